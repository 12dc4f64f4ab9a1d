// The sandbox in a container, for tests of Java with Testcontainers (org.testcontainers:testcontainers).
// The image is that of the Dockerfile of the repository. Documents are JSON as text: use the library that you have.

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

public final class MockPlatformContainer extends GenericContainer<MockPlatformContainer> {
    private static final int PORT = 8080;

    // Other machines may reach the port; only this process may control the sandbox.
    private final String token = UUID.randomUUID().toString();
    private final HttpClient http = HttpClient.newHttpClient();

    public MockPlatformContainer(String image) {
        super(DockerImageName.parse(image));
        withEnv("MOCK_PLATFORM_SERVE_CONTROL_TOKEN", token);
        withExposedPorts(PORT);
        waitingFor(Wait.forHealthcheck());
    }

    /** The address of the sandbox. */
    public String url() {
        return "http://" + getHost() + ":" + getMappedPort(PORT);
    }

    /** A world for one test: close it at the end of the test. */
    public World freshWorld() {
        return new World("java-" + UUID.randomUUID());
    }

    private String ask(String method, String address, String document) {
        var request = HttpRequest.newBuilder(URI.create(address))
            .method(method, document == null ? BodyPublishers.noBody() : BodyPublishers.ofString(document))
            .header("Content-Type", "application/json")
            .header("X-Mock-Control-Token", token)
            .build();
        try {
            var answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() >= 300) { // its `detail` says what to do
                throw new IllegalStateException(method + " " + address + ": " + answer.body());
            }
            return answer.body();
        } catch (IOException lost) {
            throw new IllegalStateException("No answer from " + address, lost);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", stopped);
        }
    }

    public final class World implements AutoCloseable {
        private final String name;

        private World(String name) {
            this.name = name;
            ask("PUT", url() + "/_mock/worlds/" + name, null);
        }

        /** The base address for your client. */
        public String baseUrl() {
            return url() + "/~" + name;
        }

        /** The bearer token of the test app. */
        public String bearerToken() {
            var found = Pattern.compile("\"bearer_token\":\"([^\"]+)\"").matcher(control("GET", "/credentials", null));
            if (!found.find()) {
                throw new IllegalStateException("The world has no bearer token");
            }
            return found.group(1);
        }

        /** Activate a scenario, with its parameters as JSON. */
        public void activate(String scenario, String parameters) {
            control("POST", "/scenarios/" + scenario + "/activate", "{\"parameters\": " + parameters + "}");
        }

        /** Let the time of the world pass. */
        public void advance(Duration duration) {
            control("PUT", "/clock", "{\"action\": \"advance\", \"seconds\": " + duration.toSeconds() + "}");
        }

        /** The journal as JSON: requests("operation=accounts.list"). */
        public String requests(String query) {
            return control("GET", "/requests?" + query, null);
        }

        /** Any other route of the control plane, such as /state/users. */
        public String control(String method, String path, String document) {
            return ask(method, baseUrl() + "/_mock" + path, document);
        }

        @Override
        public void close() {
            ask("DELETE", url() + "/_mock/worlds/" + name, null);
        }
    }
}
