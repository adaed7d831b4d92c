import { resolve } from 'node:path'
import type { FastifyReply } from 'fastify'
import type { FeaturePlugin } from '../../core/feature.ts'
import { isNothingThere, openInside } from '../../core/files/safe-path.ts'

/** Below these prefixes an unknown address is an error and never a page. */
const NO_PAGES = /^\/(?:api|ws|netplay|assets\/(?:svc|romm)\/resources)(?:\/|$)/
/** The pages in which RomM runs emulators. */
const PLAYERS = /^(?:\/rom\/[^/]+\/ejs|\/console\/rom\/[^/]+\/play)\/?$/
const INDEX = 'index.html'

/** Pages run emulators, which compile code, and show pictures of metadata providers. */
const createPolicy = (origins: readonly string[]) =>
  "default-src 'self'; script-src 'self' 'unsafe-eval' blob:; worker-src 'self' blob:; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' https: data: blob:; media-src 'self' https: blob:; " +
  `font-src 'self' data:; connect-src ${["'self'", 'data:', 'blob:', ...origins].join(' ')}; frame-src 'self' https:; ` +
  "frame-ancestors 'none'"

/** The hash in a bundle's name: Vite's, directly in the folder of assets, or 16 or more hexadecimal digits anywhere. */
const HASH = /^assets\/[^/]*-([\w-]{8})\.\w+(?:\.map)?$|[-.]([0-9a-f]{16,})\.\w+(?:\.map)?$/

/**
 * True if the name changes with the content of its file. Eight letters without a digit may be a word and do not count.
 */
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

/** Serves the pages of a folder that the operator configures, at all addresses that the server itself does not use. */
const plugin: FeaturePlugin = async (app, { config: { server }, role }) => {
  const { web_dir: webDir } = server
  if (webDir === undefined || role !== 'web') return
  app.pages.areServed = true
  const root = resolve(webDir)
  const policy = createPolicy(server.web_connect_origins)
  // The server's own pages are for operators without other pages. Pages made for RomM approve devices themselves.
  const replaced = new Set<string | undefined>(server.romm_names ? ['/', '/pair/device'] : ['/'])
  const { default: fastifyStatic } = await import('@fastify/static')
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

  /** Returns the file for an address: the file itself, the start page if the address may be a view of it, else null. */
  async function findFile (path: string): Promise<string | null> {
    const name = path.slice(1)
    if (name.split('/').some((part) => part.startsWith('.'))) return null
    if (name !== '' && await isFile(name)) return name
    return !path.startsWith('/assets/') && await isFile(INDEX) ? INDEX : null
  }

  function sendPage (reply: FastifyReply, path: string, name: string): FastifyReply {
    reply.header('content-security-policy', policy)
    reply.header('cache-control', cacheControlOf(name))
    // Emulators with threads need shared memory. Browsers grant it only to pages that embed no foreign content without
    // consent.
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
    // These requests were not authenticated. A cookie would belong to no account and would replace the visitor's own.
    if (request.is404) reply.removeHeader('set-cookie')
  })
}

export default plugin
