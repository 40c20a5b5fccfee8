# One image for the web server and the workers; docker-compose.yml says which it is.
FROM node:22-slim AS frontend
WORKDIR /millrace/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM python:3.11-slim
# Java is for the analysis worker and Spark's workers alone.
RUN apt-get update && apt-get install -y --no-install-recommends default-jre-headless && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 millrace && mkdir -m 700 /data && chown millrace /data
WORKDIR /millrace
COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir -r requirements.txt -c constraints.txt
COPY . .
COPY --from=frontend /millrace/frontend/dist frontend/dist
# Compiled once, when the image is built, into the cache below the home directory.
RUN chown -R millrace /millrace
USER millrace
RUN python -c "import engine; engine.warm_up()"
# Two arenas: glibc makes eight per core for processes of many threads, and what each has freed serves it alone.
ENV MALLOC_ARENA_MAX=2
ENV MILLRACE_DATA=/data PYTHONUNBUFFERED=1 DJANGO_SETTINGS_MODULE=webapp.settings
EXPOSE 8000
CMD ["uvicorn", "webapp.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", "--no-access-log", "--http", "webapp.protocol:LimitedH11", "--timeout-keep-alive", "75", "--no-proxy-headers", "--ws-per-message-deflate", "false"]
