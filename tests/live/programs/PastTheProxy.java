import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Reads one address with a client that was told to use no proxy. */
public class PastTheProxy {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
        URI address = URI.create("https://api.x.com/2/openapi.json");
        HttpRequest request = HttpRequest.newBuilder(address).build();
        System.out.println(client.send(request, BodyHandlers.discarding()).statusCode());
    }
}
