# syntax=docker/dockerfile:1
#
# The sandbox as a container. In a checkout:
#
#   docker build -t mock-platform .
#   docker run --rm -p 127.0.0.1:8080:8080 mock-platform
#
# For several kinds of machines at once (nothing is compiled, every library has wheels for both):
#
#   docker buildx build --platform linux/amd64,linux/arm64 -t NAME --push .
#
# Set an option of `mock-platform serve` with -e MOCK_PLATFORM_SERVE_<OPTION>=…, or write it after the
# name of the image: `mock-platform serve --strict`. Options that containers often need:
#
#   …CONTROL_TOKEN=TOKEN          the token for the control plane; without it the server makes one and
#                                 prints it in the READY line: docker logs CONTAINER
#   …PUBLIC_HOST=NAME             a name under which other containers call the control plane
#   …STORE=tinydb:state.json      keep the records; with -v mock-platform:/data
#   …DELIVERY_ALLOW_HOST=NAME     a host that may receive webhook deliveries
#   …PORT=8081                    another port within the container (the health check follows)

FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY mock_platform mock_platform
COPY fixtures fixtures
COPY scenarios scenarios
COPY fidelity fidelity
RUN python -m venv /opt/mock-platform \
    && /opt/mock-platform/bin/pip install --no-cache-dir --disable-pip-version-check '.[all]'

FROM python:3.11-slim
LABEL org.opencontainers.image.title="mock_platform" \
      org.opencontainers.image.description="The sandbox to run instead of a social platform's real API" \
      org.opencontainers.image.source="https://github.com/mock-platform/mock-platform" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/mock-platform /opt/mock-platform
RUN useradd --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin sandbox
ENV PATH=/opt/mock-platform/bin:$PATH \
    MOCK_PLATFORM_SERVE_HOST=0.0.0.0 \
    MOCK_PLATFORM_SERVE_PORT=8080
WORKDIR /data
# A number, so that Kubernetes can check that the user is not root.
USER 10001
EXPOSE 8080

# The check sends no token, and no https even with --tls: a refusal shows that the server runs, too.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
server = http.client.HTTPConnection('127.0.0.1', int(os.environ['MOCK_PLATFORM_SERVE_PORT']), timeout=2); \
server.request('GET', '/_mock/health'); \
sys.exit(server.getresponse().status >= 500)"]

ENTRYPOINT ["mock-platform"]
CMD ["serve"]
