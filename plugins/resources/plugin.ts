import type { FeaturePlugin } from '../../core/feature.ts'
import { contentDisposition, fingerprintOf, sendContent, sendFile, sendObject } from './file-reply.ts'
import { readFile } from './file-stream.ts'
import { mediaTypeOf } from './media-types.ts'
import { resourcesDirOf } from './resource-key.ts'
import { createResources } from './service.ts'
import { sweepUnfinished } from './sweep-unfinished.ts'
import { defineWebp } from './webp.ts'

/** The functions with which every feature sends files. */
const files = {
  send: sendFile, sendObject, sendContent, read: readFile, fingerprintOf, contentDisposition, mediaTypeOf
}

declare module 'fastify' {
  interface FastifyInstance {
    files: typeof files
    resources: ReturnType<typeof createResources>
  }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('files', files)
  app.decorate('resources', createResources(config, app.secrets, app.store))
  if (app.store.folder === null) app.addHook('onReady', () => sweepUnfinished(resourcesDirOf(config)))
  const webp = defineWebp(app, config)
  app.tasks.define(webp)
  if (role === 'worker' && webp.enabled && !app.rest.isWoken) app.addHook('onReady', () => app.tasks.startAutomatically(webp.name))
}

export default plugin
