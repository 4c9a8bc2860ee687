package dev.sluice.warmup;

import java.lang.reflect.Field;

/** Reads what Scala made of a constructor parameter: a private field, sometimes under a longer name. */
final class Inside {
    private Inside() {
    }

    @SuppressWarnings("unchecked")
    static <T> T of(final Object object, final String name) {
        for (Class<?> at = object.getClass(); at != null; at = at.getSuperclass()) {
            for (final Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) {
                    try {
                        field.setAccessible(true);
                        return (T) field.get(object);
                    } catch (final IllegalAccessException e) {
                        throw new IllegalStateException(name + " of " + object.getClass() + " cannot be read", e);
                    }
                }
            }
        }
        throw new IllegalStateException(object.getClass() + " has no " + name);
    }
}
