import { resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { isNothingThere, openInside } from '../../core/files/safe-path.ts'

/** Below these a wrong address is an error; it is never a page. */
const NO_PAGES = /^\/(?:api|ws|netplay|assets\/(?:svc|romm)\/resources)(?:\/|$)/
/** The pages in which RomM runs emulators. */
const PLAYERS = /^(?:\/rom\/[^/]+\/ejs|\/console\/rom\/[^/]+\/play)\/?$/
const INDEX = 'index.html'

/** Pages bring emulators, which compile code, and show pictures of metadata providers. */
const createPolicy = (origins: readonly string[]) =>
  "default-src 'self'; script-src 'self' 'unsafe-eval' blob:; worker-src 'self' blob:; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' https: data: blob:; media-src 'self' https: blob:; " +
  `font-src 'self' data:; connect-src ${["'self'", 'data:', 'blob:', ...origins].join(' ')}; frame-src 'self' https:; ` +
  "frame-ancestors 'none'"

/** The hash of a bundle: of Vite in the folder of assets itself, or one of many hexadecimal digits anywhere. */
const HASH = /^assets\/[^/]*-([\w-]{8})\.\w+(?:\.map)?$|[-.]([0-9a-f]{16,})\.\w+(?:\.map)?$/

/** Whether a name changes with the content of its file. Eight letters alone may be a word, and are taken for one. */
function isHashed (name: string): boolean {
  const [, short, long] = HASH.exec(name) ?? []
  const hash = short ?? long ?? ''
  return /\d/.test(hash) && /[A-Za-z]/.test(hash)
}

function cacheControlOf (name: string): string {
  if (!name.startsWith('assets/')) return 'no-cache'
  return isHashed(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600, must-revalidate'
}

function readPath (url: string): string | null {
  try {
    return decodeURIComponent(url.split('?')[0] ?? '')
  } catch {
    return null
  }
}

/** The pages of a folder that the owner names, wherever the server itself has nothing. */
export default fp<FeatureOptions>(async (app, { config: { server }, role }) => {
  const { web_dir: webDir } = server
  if (webDir === undefined || role !== 'web') return
  const root = resolve(webDir)
  const policy = createPolicy(server.web_connect_origins)
  // Pages of the server itself are for people who have no others. Pages made for RomM approve devices themselves.
  const replaced = new Set<string | undefined>(server.romm_names ? ['/', '/pair/device'] : ['/'])
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

  function sendPage (reply: FastifyReply, path: string, name: string): FastifyReply {
    reply.header('content-security-policy', policy)
    reply.header('cache-control', cacheControlOf(name))
    // Browsers give shared memory, which threads of emulators need, to pages that load nothing unasked from elsewhere.
    if (PLAYERS.test(path)) reply.header('cross-origin-embedder-policy', 'require-corp')
    return reply.sendFile(name)
  }

  app.addHook('onRequest', async (request, reply) => {
    const isFree = request.is404 || replaced.has(request.routeOptions.url)
    if (!isFree || !['GET', 'HEAD'].includes(request.method)) return
    const path = readPath(request.url)
    if (path === null || NO_PAGES.test(path)) return
    const name = await findFile(path)
    if (name !== null) return sendPage(reply, path, name)
  })
  app.addHook('onSend', async (request, reply) => {
    // Nobody was asked who is calling: a cookie would be a stranger's, and take the place of the visitor's own.
    if (request.is404) reply.removeHeader('set-cookie')
  })
}, { name: 'web', dependencies: ['auth-core'] })
