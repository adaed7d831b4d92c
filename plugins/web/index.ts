import { resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { isNothingThere, openInside } from '../../core/files/safe-path.ts'

/** Below these a wrong address is an error; it is never a page. */
const NO_PAGES = /^\/(?:api|ws|netplay|assets\/(?:svc|romm)\/resources)(?:\/|$)/
/** Pages bring emulators, which compile code, and show pictures of metadata sources. */
const PAGES_CSP = "default-src 'self'; script-src 'self' 'unsafe-eval' blob:; worker-src 'self' blob:; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' https: data: blob:; media-src 'self' https: blob:; " +
  "font-src 'self' data:; connect-src 'self' data: blob:; frame-src 'self' https:; frame-ancestors 'none'"
const INDEX = 'index.html'

function readPath (url: string): string | null {
  try {
    return decodeURIComponent(url.split('?')[0] ?? '')
  } catch {
    return null
  }
}

/** The pages of a folder that the owner names, wherever the server itself has nothing. */
export default fp<FeatureOptions>(async (app, { config: { server: { web_dir: webDir } }, role }) => {
  if (webDir === undefined || role !== 'web') return
  const root = resolve(webDir)
  await app.register(fastifyStatic, { root, serve: false, index: false, dotfiles: 'deny', cacheControl: false })

  async function isFile (path: string): Promise<boolean> {
    try {
      await (await openInside(root, path)).close()
      return true
    } catch (err) {
      if (isNothingThere(err)) return false
      throw err
    }
  }

  /** The file an address means: itself, the start page for what may be one of its views, or null for neither. */
  async function findFile (path: string): Promise<string | null> {
    const name = path.slice(1)
    if (name.split('/').some((part) => part.startsWith('.'))) return null
    if (name !== '' && await isFile(name)) return name
    return !path.startsWith('/assets/') && await isFile(INDEX) ? INDEX : null
  }

  function sendPage (reply: FastifyReply, name: string): FastifyReply {
    const isAsset = name.startsWith('assets/')
    reply.header('content-security-policy', PAGES_CSP)
    reply.header('cache-control', isAsset ? 'public, max-age=3600, must-revalidate' : 'no-cache')
    return reply.sendFile(name)
  }

  app.addHook('onRequest', async (request, reply) => {
    // What the server itself says at its root is for people who have no pages.
    const isFree = request.is404 || request.routeOptions.url === '/'
    if (!isFree || !['GET', 'HEAD'].includes(request.method)) return
    const path = readPath(request.url)
    const name = path === null || NO_PAGES.test(path) ? null : await findFile(path)
    if (name !== null) return sendPage(reply, name)
  })
  app.addHook('onSend', async (request, reply) => {
    // Nobody was asked who is calling: a cookie would be a stranger's, and take the place of the visitor's own.
    if (request.is404) reply.removeHeader('set-cookie')
  })
}, { name: 'web', dependencies: ['auth-core'] })
