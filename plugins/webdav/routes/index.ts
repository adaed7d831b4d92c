import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FeatureRoutes } from '../../../core/feature.ts'
import type { Webdav } from '../service.ts'
import { ROMM_ROOT, ROOT } from './addresses.ts'
import fileRoutes from './files.ts'
import createLibraryRoutes from './library.ts'
import createSyncRoutes from './sync.ts'

/** The methods of WebDAV that Fastify does not know. Their bodies are ignored: a request for properties gets all. */
const METHODS = ['MKCOL', 'MOVE', 'PROPFIND'] as const
const RETROARCH = /^libretro\b/i

/** Closes connections of RetroArch, which takes one that the server closed later for a failure; asks for passwords. */
function addHeaders (
  { headers }: FastifyRequest, reply: FastifyReply, payload: unknown, done: (err: null, payload: unknown) => void
): void {
  if (RETROARCH.test(headers['user-agent'] ?? '')) reply.header('connection', 'close')
  if (reply.statusCode === 401) reply.header('www-authenticate', 'Basic realm="svc", charset="UTF-8"')
  done(null, payload)
}

const routes: FeatureRoutes<Webdav> = async (app, { config }, webdav) => {
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true })
  // RetroArch sends names that are not UTF-8 byte by byte.
  app.bareErrorRoots.push(ROOT, ROMM_ROOT)
  await app.register(async (dav) => {
    // The body is the raw bytes, of any type.
    dav.removeAllContentTypeParsers()
    dav.addContentTypeParser('*', (_request: FastifyRequest, payload, done) => { done(null, payload) })
    // Also for requests that are refused before their route.
    dav.addHook('onSend', addHeaders)
    for (const root of [ROOT, ROMM_ROOT]) await dav.register(createSyncRoutes(config, webdav, root))
    await dav.register(createLibraryRoutes(config))
  })
  await app.register(fileRoutes(webdav))
}

export default routes
