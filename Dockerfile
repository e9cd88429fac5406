# Pin the base by digest where builds must repeat exactly:
#   --build-arg PYTHON_IMAGE=docker.io/library/python:3.12-slim-bookworm@sha256:...
ARG PYTHON_IMAGE=docker.io/library/python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv /opt/venv
COPY requirements.lock ./
RUN /opt/venv/bin/pip install --no-compile --only-binary :all: --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# What only builds or installs is left behind; bytecode never compares times, so copies stay valid.
RUN /opt/venv/bin/pip install --no-compile --no-deps --no-build-isolation . \
    && /opt/venv/bin/pip uninstall --yes hatchling editables pip \
    && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/venv/lib

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="refdesk" \
      org.opencontainers.image.description="A reference desk for AI agents: one MCP endpoint over your own documentation" \
      org.opencontainers.image.licenses="MIT"

# A read-only container cannot keep the bytecode of the standard library: it is compiled here.
RUN python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(test|tests|idlelib|lib2to3|site-packages)/' "$(python -c 'import os; print(os.path.dirname(os.__file__))')" \
    && groupadd --gid 10001 refdesk \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin refdesk \
    && install --directory --owner 10001 --group 10001 /data

COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY corpus.toml ./
COPY corpus /corpus

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TMPDIR=/tmp \
    CORPUS_ROOT=/corpus \
    CORPUS_CONFIG=/app/corpus.toml \
    DATA_DIR=/data \
    REFDESK_HOST=0.0.0.0 \
    REFDESK_PORT=8000

USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-Ic", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('REFDESK_PORT') or 8000), timeout=4); c.request('GET', '/healthz', headers={'Host': 'localhost'}); raise SystemExit(c.getresponse().status != 200)"]
CMD ["refdesk", "serve"]
