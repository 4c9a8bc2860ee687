package dev.sluice.inside;

import java.lang.reflect.Field;

/** Reads and sets what Scala made of a constructor parameter or a value: a private field, sometimes under a longer name. */
public final class Inside {
    private Inside() {
    }

    /**
     * What a field holds.
     *
     * @param object whose
     * @param name the field's
     * @param <T> what it holds
     * @return that
     */
    @SuppressWarnings("unchecked")
    public static <T> T of(final Object object, final String name) {
        try {
            return (T) field(object, name).get(object);
        } catch (final IllegalAccessException e) {
            throw new IllegalStateException(name + " of " + object.getClass() + " cannot be read", e);
        }
    }

    /**
     * Puts another value into a field.
     *
     * @param object whose
     * @param name the field's
     * @param value the other one
     */
    public static void put(final Object object, final String name, final Object value) {
        try {
            field(object, name).set(object, value);
        } catch (final IllegalAccessException e) {
            throw new IllegalStateException(name + " of " + object.getClass() + " cannot be set", e);
        }
    }

    private static Field field(final Object object, final String name) {
        for (Class<?> at = object.getClass(); at != null; at = at.getSuperclass()) {
            for (final Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new IllegalStateException("this Spark's " + object.getClass().getSimpleName() + " has no " + name);
    }
}
