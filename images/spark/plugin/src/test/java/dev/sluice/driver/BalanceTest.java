package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.agent.Json;
import dev.sluice.split.Split;
import dev.sluice.speculate.Speculation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BalanceTest {
    private static final String MULTIPLIER = "spark.speculation.multiplier";

    private final SparkConf conf = new SparkConf(false).set(MULTIPLIER, "100");
    private final Balance balance = new Balance(new Split(List::of, executor -> 0), new Speculation(conf));

    private void heed(final String said) throws IOException {
        balance.heed(Json.read(("{\"version\": 1" + said + "}").getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void anAnswerWithoutABalanceChangesNothing() throws IOException {
        heed(", \"balance\": {\"query\": \"q\", \"speculation\": {\"multiplier\": 3, \"quantile\": 0.5}}");
        heed("");
        assertEquals("3.0", conf.get(MULTIPLIER));
    }

    @Test
    void withoutATimeoutSparkWatchesAsItWasTold() throws IOException {
        heed(", \"balance\": {\"query\": \"q\", \"speculation\": {\"multiplier\": 3, \"quantile\": 0.5}}");
        heed(", \"balance\": {\"query\": \"q\", \"shares\": {\"1\": 1}}");
        assertEquals("100", conf.get(MULTIPLIER));
        assertTrue(!conf.contains("spark.speculation.quantile"));
    }

    @Test
    void whatTheProgramItselfHasSetStaysWhereNobodySetsATimeout() throws IOException {
        conf.set(MULTIPLIER, "1");
        heed(", \"balance\": {\"query\": \"q\", \"shares\": {\"1\": 1}}");
        balance.forget();
        assertEquals("1", conf.get(MULTIPLIER));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "\"query\": 1", "\"shares\": {\"1\": 0.5}", "\"query\": \"q\", \"shares\": {}",
        "\"query\": \"q\", \"shares\": {\"1\": 0}", "\"query\": \"q\", \"shares\": {\"1\": \"much\"}",
        "\"query\": \"q\", \"shares\": {\"1\": 1.5}", "\"query\": \"q\", \"shares\": {\"1\": 1}, \"perSlot\": 0",
        "\"query\": \"q\", \"shares\": {\"1\": 1}, \"whole\": 1", "\"query\": \"q\", \"speculation\": {}",
        "\"query\": \"q\", \"speculation\": {\"multiplier\": 0.5, \"quantile\": 0.5}",
        "\"query\": \"q\", \"speculation\": {\"multiplier\": 2, \"quantile\": 2}"})
    void nonsenseIsRefusedWithASentenceAndChangesNothing(final String said) {
        final String why = assertThrows(IOException.class, () -> heed(", \"balance\": {" + said + "}")).getMessage();
        assertTrue(why.contains("allowed is"), why);
        assertEquals("100", conf.get(MULTIPLIER));
    }
}
