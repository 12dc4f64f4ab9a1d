import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class AccountsTest {
    private static final MockPlatformContainer PLATFORM = new MockPlatformContainer("mock-platform");

    @BeforeAll
    static void start() {
        PLATFORM.start();
    }

    @AfterAll
    static void stop() {
        PLATFORM.stop();
    }

    @Test
    void aRateLimitEndsWithItsWindow() throws Exception {
        try (var world = PLATFORM.freshWorld()) {
            world.activate("rate-limited", "{\"on\": \"accounts.list\", \"limit\": 1, \"window\": 900}");
            assertEquals(200, listAccounts(world));
            assertEquals(429, listAccounts(world));

            world.advance(Duration.ofMinutes(15));

            assertEquals(200, listAccounts(world));
        }
    }

    @Test
    void theJournalHasTheReasons() throws Exception {
        try (var world = PLATFORM.freshWorld()) {
            world.activate("outage", "{}");

            assertEquals(503, listAccounts(world));

            assertTrue(world.requests("status=503").contains("\"scenario\":\"outage\""));
        }
    }

    // The client that you test.
    private static int listAccounts(MockPlatformContainer.World world) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(world.baseUrl() + "/12/accounts"))
            .header("Authorization", "Bearer " + world.bearerToken())
            .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
    }
}
