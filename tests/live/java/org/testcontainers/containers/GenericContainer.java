package org.testcontainers.containers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.testcontainers.containers.wait.strategy.WaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** Stands in for Testcontainers: a container is a server in a process, with the image's settings. */
public class GenericContainer<SELF extends GenericContainer<SELF>> {
    private final Map<String, String> environment = new HashMap<>();
    private final List<Integer> ports = new ArrayList<>();
    private final String image;
    private boolean waits;
    private Process server;
    private int port;

    public GenericContainer(DockerImageName image) {
        this.image = image.name();
    }

    @SuppressWarnings("unchecked")
    private SELF self() {
        return (SELF) this;
    }

    public SELF withEnv(String name, String value) {
        environment.put(name, value);
        return self();
    }

    public SELF withExposedPorts(Integer... exposed) {
        ports.addAll(List.of(exposed));
        return self();
    }

    public SELF waitingFor(WaitStrategy strategy) {
        waits = true;
        return self();
    }

    public void start() {
        if (!waits || !image.equals("mock-platform")) {
            throw new IllegalStateException("This image is not waited for: " + image);
        }
        var words = new ArrayList<>(List.of(System.getenv("MOCK_PLATFORM_COMMAND").split(" ")));
        words.addAll(List.of("serve", "--stop-with-stdin", "--host", "0.0.0.0", "--port", "0"));
        var builder = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        try {
            server = builder.start();
            var line = new BufferedReader(new InputStreamReader(server.getInputStream())).readLine();
            var found = Pattern.compile("\"url\":\"http://[^\"]*:(\\d+)\"").matcher(line);
            found.find();
            port = Integer.parseInt(found.group(1));
        } catch (java.io.IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    public void stop() {
        try {
            server.getOutputStream().close();
            server.waitFor();
        } catch (java.io.IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
        System.out.println("the container is gone");
    }

    public String getHost() {
        return "localhost";
    }

    public Integer getMappedPort(int inside) {
        if (!ports.contains(inside)) {
            throw new IllegalStateException("Not exposed: " + inside);
        }
        return port;
    }
}
