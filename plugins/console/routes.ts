import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { ApiError } from '../../core/errors.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { negotiateEncoding } from '../../core/web/compression.ts'
import { FILES_PATH } from './addresses.ts'
import type { Console } from './service.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', json: 'application/json', map: 'application/json', svg: 'image/svg+xml',
  mjs: 'text/javascript; charset=utf-8', wasm: 'application/wasm'
}

/** The policy of the worker that reads manuals. Its decoders of scanned pages are WebAssembly. */
const WORKER_POLICY = "default-src 'none'; script-src 'wasm-unsafe-eval'"
const isWorker = (name: string) => name.startsWith('pdf.worker')

const routes: FeatureRoutes<Console | null> = async (app, _options, service) => {
  if (service === null) return
  app.addHook('onSend', async (_request, reply) => {
    // Shared caches store this response, so it must not carry a visitor's cookies.
    reply.removeHeader('set-cookie')
  })

  app.get(`${FILES_PATH}/:name`, {
    schema: { hide: true, params: Type.Object({ name: Type.String() }) },
    config: { public: true }
  }, async (request, reply) => {
    const { folder, files } = await service.load()
    const { name } = request.params
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    if (file === undefined) throw new ApiError('NOT_FOUND', `The page has no part '${name}'. Load the page again.`)
    const encoding = negotiateEncoding(request, file.encodings)
    reply.header('cache-control', IMMUTABLE).header('vary', 'Accept-Encoding')
    reply.type(TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream')
    if (isWorker(name)) reply.header('content-security-policy', WORKER_POLICY)
    if (encoding !== null) reply.header('content-encoding', encoding)
    return reply.send(createReadStream(join(folder, encoding === null ? name : `${name}.${encoding}`)))
  })
}

export default routes
