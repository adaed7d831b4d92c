# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS build
WORKDIR /svc
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/
COPY providers providers
COPY channels channels
COPY exporters exporters
COPY examples examples
# Only the scripts named in allowScripts run: those of the embedded database.
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production SVC_DATA_DIR=/data SVC_LIBRARY_DIR=/library
WORKDIR /svc
COPY --from=build /svc/node_modules node_modules
COPY package.json LICENSE ./
COPY core core
COPY plugins plugins
COPY providers providers
COPY channels channels
COPY exporters exporters
COPY examples examples
COPY sdk sdk
RUN mkdir /data /library && chown node:node /data /library && chmod 700 /data \
  && ln -s /svc/core/svc.js /usr/local/bin/svc && chmod +x /svc/core/svc.js
USER node
VOLUME /data /library
EXPOSE 8080
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/health').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["svc", "start"]
