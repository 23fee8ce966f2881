FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The tools need no install scripts: this image has the Node that the checkout would bring.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts

FROM node:24-slim AS libraries
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev

FROM node:24-slim
LABEL org.opencontainers.image.title="Agent Engine" \
      org.opencontainers.image.description="A self-hosted server for AI assistants" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=libraries /app/node_modules node_modules
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/bin bin
COPY --from=build /app/drizzle drizzle
COPY --from=build /app/dist dist
# The first call keeps what V8 made of the program, for the user that runs it. Nobody but root may change that later.
RUN ln -s /app/bin/agent-engine.js /usr/local/bin/agent-engine \
 && install -d -o node -g node dist/compile-cache \
 && setpriv --reuid=1000 --regid=1000 --clear-groups agent-engine --version \
 && chown -R root:root dist/compile-cache && chmod -R a=rX dist/compile-cache \
 && install -d -o node -g node -m 700 /data
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
# Once a large piece of memory was given back, glibc by itself keeps up to 32 MiB for each thread.
ENV MALLOC_TRIM_THRESHOLD_=4194304 MALLOC_MMAP_THRESHOLD_=4194304
# As a number, so that an orchestrator can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is started: npm or a shell would keep SIGTERM from it.
ENTRYPOINT ["node", "/app/bin/agent-engine.js"]
CMD ["serve"]
