package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class QueryTest {
    private final FakeSpark spark = new FakeSpark("/ck/q");
    private final Query query = new Query(spark);

    @Test
    void whatIsMissingOfItsSafetyIsSaidWhileItLivesAndIsNoFailure() {
        query.caveat("a second writer cannot be excluded");
        assertEquals("a second writer cannot be excluded", query.problem());
        spark.active = false;
        assertEquals("", query.problem());
    }

    @Test
    void whyItFailedIsSaidWhateverWasMissing() {
        query.caveat("a second writer cannot be excluded");
        spark.active = false;
        query.problem("the disk is full");
        assertEquals("the disk is full", query.problem());
    }
}
