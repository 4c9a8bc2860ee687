package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class EndingsTest {
    @Test
    void aFailureIsToldByWhatWasThrownAndWhatCausedItInTheEnd() {
        final String trace = "org.example.Wrapped: the job aborted\n\tat a.b(C.java:1)\nCaused by: org.example.Middle: x\n"
                + "\tat d.e(F.java:2)\nCaused by: org.example.Root: the disk is full\n\t... 3 more\n";
        assertEquals("org.example.Wrapped: the job aborted, caused by org.example.Root: the disk is full",
                Endings.reason(trace));
    }

    @Test
    void aFailureInPythonIsToldByTheLastLineOfItsTraceback() {
        final String trace = "org.example.Wrapped: in the user's function: Traceback (most recent call last):\n"
                + "  File \"job.py\", line 3, in f\n    raise ValueError(\"no such key\")\nValueError: no such key\n\n"
                + "\tat a.b(C.java:1)\n";
        assertEquals("org.example.Wrapped: in the user's function: Traceback (most recent call last):,"
                + " caused by ValueError: no such key", Endings.reason(trace));
    }

    @Test
    void aFailureWithoutACauseIsOneLine() {
        assertEquals("org.example.Root: the disk is full", Endings.reason("org.example.Root: the disk is full\n\tat a.b(C.java:1)"));
    }
}
