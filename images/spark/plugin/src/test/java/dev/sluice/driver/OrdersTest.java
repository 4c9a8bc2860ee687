package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.agent.Json;
import dev.sluice.split.Shares;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OrdersTest {
    private static Orders read(final String fields) throws IOException {
        return Orders.read(Json.read(("{\"version\":1" + fields + "}").getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void whatIsAbsentIsNotWanted() throws IOException {
        assertEquals(new Orders(0, false, 0, null, 0, List.of(), false, false, null), read(""));
    }

    @Test
    void aWholeDocumentIsReadAndUnknownFieldsOfALaterReleaseAreNotMinded() throws IOException {
        assertEquals(
                new Orders(7, true, 3, new Orders.Drain("h-3", 60_000, 500, true), 4, List.of("2"), true, true,
                        Shares.equal(true)),
                read(",\"serial\":7,\"gate\":{\"open\":true,\"epoch\":3,\"new\":1},\"drain\":{\"id\":\"h-3\",\"timeoutMs\":60000,\"calmMs\":500,"
                        + "\"stop\":true},\"executors\":{\"total\":4,\"decommission\":[\"2\"]},\"warmUp\":true,"
                        + "\"preload\":true,\"cut\":{\"whole\":true},\"later\":{}"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        ",\"serial\":-1                          | serial is '-1', allowed is a whole number from 0 to 9223372036854775807",
        ",\"serial\":1e400                       | serial is 'Infinity', allowed is a whole number from 0 to 9223372036854775807",
        ",\"serial\":99999999999999999999        | serial is '99999999999999999999', allowed is a whole number from 0 to"
                + " 9223372036854775807",
        ",\"gate\":true                          | gate is 'true', allowed is an object",
        ",\"gate\":{\"open\":\"yes\"}            | open is 'yes', allowed is true or false",
        ",\"gate\":{\"epoch\":1.5}               | epoch is '1.5', allowed is a whole number from 0 to 922337203685477580",
        ",\"drain\":{}                           | drain.id is none, allowed is 1 to 64 letters, digits, '.', '_' or '-'",
        ",\"drain\":{\"id\":\"a\",\"timeoutMs\":86400001} | timeoutMs is '86400001', allowed is a whole number from 0 to 86400000",
        ",\"executors\":{\"total\":10001}        | total is '10001', allowed is a whole number from 0 to 10000",
        ",\"executors\":{\"decommission\":\"1\"} | decommission is '1', allowed is a list of at most 10000 names",
        ",\"executors\":{\"decommission\":[1]}   | decommission is '1', allowed is a list of executor ids",
        ",\"executors\":{\"decommission\":[\"../x\"]} | decommission is '../x', allowed is a list of executor ids",
    })
    void aBadFieldIsNamedWithItsValueAndWhatIsAllowed(final String fields, final String sentence) {
        assertEquals("orders: " + sentence, assertThrows(IOException.class, () -> read(fields)).getMessage());
    }
}
