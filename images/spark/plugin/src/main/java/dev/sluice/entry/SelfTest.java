package dev.sluice.entry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Looks whether this JVM and this Spark are the ones Sluice was built for, before any class of Sluice needs them. */
public final class SelfTest {
    private static final int JAVA = 17;
    private static final String SHAPES = "shapes.txt";

    private final ClassLoader loader;

    /**
     * A test of what one class loader sees.
     *
     * @param loader where Spark's classes come from
     */
    public SelfTest(final ClassLoader loader) {
        this.loader = loader;
    }

    /**
     * Why Sluice leaves this driver alone.
     *
     * @param sparkVersion as Spark says it
     * @return one sentence for the condition {@code Protected}, empty when all is as expected
     */
    public String reasonAgainst(final String sparkVersion) {
        final String version = new SparkVersion(sparkVersion).reasonAgainst();
        if (!version.isEmpty()) {
            return version;
        }
        if (javaVersion() < JAVA) {
            return "Java is " + javaVersion() + "; Sluice needs " + JAVA;
        }
        for (final String shape : shapes()) {
            final String missing = missing(shape);
            if (!missing.isEmpty()) {
                return "this Spark " + sparkVersion + " has no " + missing + ", which Sluice builds on";
            }
        }
        return "";
    }

    private static int javaVersion() {
        final String version = System.getProperty("java.specification.version");
        return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
    }

    private static List<String> shapes() {
        final List<String> lines = new ArrayList<>();
        try (InputStream in = SelfTest.class.getResourceAsStream(SHAPES);
                BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!line.isEmpty() && !line.startsWith("#")) {
                    lines.add(line.trim());
                }
            }
        } catch (final IOException e) {
            throw new IllegalStateException("the jar lacks " + SHAPES, e);
        }
        return lines;
    }

    /**
     * What of a shape is not there.
     *
     * @param shape {@code package.Class} or {@code package.Class#method(package.Parameter,int)}
     * @return the shape itself, empty when it is there
     */
    public String missing(final String shape) {
        final String[] parts = shape.split("#", 2);
        try {
            final Class<?> type = Class.forName(parts[0], false, loader);
            return parts.length == 1 || has(type, parts[1]) ? "" : shape;
        } catch (final ClassNotFoundException | LinkageError e) {
            return shape;
        }
    }

    private static boolean has(final Class<?> type, final String signature) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (final Method method : at.getDeclaredMethods()) {
                if (signature.equals(method.getName() + parameters(method))) {
                    return true;
                }
            }
        }
        return Arrays.stream(type.getConstructors()).anyMatch(made -> signature.equals("new" + parameters(made)));
    }

    private static String parameters(final Executable method) {
        final StringBuilder text = new StringBuilder("(");
        for (final Class<?> parameter : method.getParameterTypes()) {
            text.append(text.length() == 1 ? "" : ",").append(parameter.getName());
        }
        return text.append(')').toString();
    }
}
