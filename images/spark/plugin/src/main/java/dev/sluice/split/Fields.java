package dev.sluice.split;

import dev.sluice.inside.Inside;
import java.lang.reflect.Constructor;
import java.util.Map;
import scala.Product;

/** A case class of somebody else's, by the names of its fields. Anything not as expected is thrown, and the batch stays uncut. */
final class Fields {
    private final Object of;

    Fields(final Object of) {
        this.of = of;
    }

    <T> T get(final String name) {
        return Inside.of(of, name);
    }

    /** A copy with some other values. */
    Object with(final Map<String, Object> others) {
        final Product product = (Product) of;
        final Object[] values = new Object[product.productArity()];
        int found = 0;
        for (int i = 0; i < values.length; i++) {
            final String name = product.productElementName(i);
            found += others.containsKey(name) ? 1 : 0;
            values[i] = others.containsKey(name) ? others.get(name) : product.productElement(i);
        }
        if (found != others.size()) {
            throw new IllegalStateException(of.getClass().getName() + " lacks one of " + others.keySet());
        }
        return made(values);
    }

    private Object made(final Object[] values) {
        for (final Constructor<?> one : of.getClass().getConstructors()) {
            if (one.getParameterCount() == values.length) {
                try {
                    one.setAccessible(true);
                    return one.newInstance(values);
                } catch (final ReflectiveOperationException e) {
                    throw new IllegalStateException(of.getClass().getName() + " cannot be made anew", e);
                }
            }
        }
        throw new IllegalStateException(of.getClass().getName() + " has no constructor for " + values.length + " values");
    }
}
