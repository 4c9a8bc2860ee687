package dev.sluice.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SelfTestTest {
    private final SelfTest test = new SelfTest(SelfTestTest.class.getClassLoader());

    @Test
    void theSparkOfPyPiIsAsExpected() {
        assertEquals("", test.reasonAgainst("4.3.0"));
    }

    @Test
    void aSparkWithoutTheClassesWeExtendIsLeftAloneAndTheReasonNamesWhatIsMissing() {
        final ClassLoader noSpark = new ClassLoader(null) { };
        final String reason = new SelfTest(noSpark).reasonAgainst("4.3.0");
        assertTrue(reason.startsWith("this Spark 4.3.0 has no org.apache.spark.sql.execution.streaming.checkpointing."), reason);
        assertTrue(reason.endsWith(", which Sluice builds on"), reason);
    }

    @Test
    void anOtherVersionIsNamedBeforeAnyClassIsLookedFor() {
        final ClassLoader noSpark = new ClassLoader(null) { };
        assertEquals(new SparkVersion("3.5.6").reasonAgainst(), new SelfTest(noSpark).reasonAgainst("3.5.6"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "java.lang.String", "java.lang.String#charAt(int)", "java.util.ArrayList#new(int)", "java.util.ArrayList#hashCode()"
    })
    void findsWhatIsThereInheritedOrNot(final String shape) {
        assertEquals("", test.missing(shape));
    }

    @ParameterizedTest
    @ValueSource(strings = {"no.such.Class", "java.lang.String#charAt(long)", "java.lang.String#gone()"})
    void namesWhatIsNot(final String shape) {
        assertEquals(shape, test.missing(shape));
    }

    @ParameterizedTest
    @ValueSource(classes = {SluicePlugin.class, DriverEntry.class, SelfTest.class, dev.sluice.agent.Agent.class})
    void theEntryAndWhatItNeedsLoadInAJvmOfJava8(final Class<?> type) throws IOException {
        try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
            assertEquals(52, in.readNBytes(8)[7], "class file version");
        }
    }
}
