// Java's own client, with an OAuth 2.0 user token.
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;

public class WithJava {
    public static void main(String[] arguments) throws Exception {
        var address = URI.create("https://api.x.com/2/users/me").toURL();
        var connection = (HttpURLConnection) address.openConnection();
        var token = System.getenv("MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN");
        connection.setRequestProperty("Authorization", "Bearer " + token);
        try (InputStream body = connection.getInputStream()) {
            var text = new String(body.readAllBytes());
            if (!text.contains(System.getenv("MOCK_PLATFORM_USER_ID"))) {
                throw new AssertionError(text);
            }
        }
    }
}
