import type { FastifyReply, FastifyRequest } from 'fastify'
import { basePath } from '../../core/config/base-url.ts'
import type { FeaturePlugin } from '../../core/feature.ts'
import { VERSION } from '../../core/version.ts'
import { acceptsPages, isView } from './addresses.ts'
import { consoleConfig } from './config.ts'
import { POLICY, createPage } from './page.ts'
import { type Console, createConsole } from './service.ts'
import { showSignInProblem } from './sign-in-problem.ts'

/** True if a browser may ask for a view by this request. */
const mayBeView = ({ method, url }: FastifyRequest) => ['GET', 'HEAD'].includes(method) && isView(url.split('?', 1)[0] ?? '')

function varyByAccept (reply: FastifyReply): void {
  reply.header('vary', [reply.getHeader('vary'), 'Accept'].filter(Boolean).join(', '))
}

/** Serves the page of the console at all addresses that the server itself does not use. */
const plugin: FeaturePlugin<Console | null> = async (app, { config, role }) => {
  if (role !== 'web' || !consoleConfig.of(config).enabled || config.server.web_dir !== undefined) return null
  app.pages.areServed = true
  const base = basePath(config)
  const service = createConsole(app)
  const links = {
    name: 'svc', version: VERSION, api: `${base}/api`, documents: { openapi: `${base}/openapi.json`, asyncapi: `${base}/asyncapi.json`, pages: `${base}/api/docs` }
  }

  async function sendPage (reply: FastifyReply): Promise<FastifyReply> {
    const page = createPage(base, await service.load())
    reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache')
    return reply.type('text/html; charset=utf-8').send(page)
  }

  app.pages.show = (request, reply) => {
    if (!mayBeView(request)) return false
    varyByAccept(reply)
    if (!acceptsPages(request.headers.accept)) return false
    sendPage(reply).catch((err: unknown) => {
      request.log.error({ err }, 'the page could not be sent')
      void reply.code(500).send({ detail: 'The web pages could not be loaded; the log of the server says why.' })
    })
    return true
  }
  app.addHook('onRequest', async (request, reply) => {
    const { url, config: { isLinkedPage = false } } = request.routeOptions
    // These addresses have a route of their own, for clients without pages and for servers without the console.
    const isShared = url === '/' || isLinkedPage
    if (!(request.is404 || isShared) || !mayBeView(request)) return
    varyByAccept(reply)
    if (acceptsPages(request.headers.accept)) return await sendPage(reply)
    if (url === '/') return reply.send(links)
  })
  app.addHook('onSend', showSignInProblem(config))
  app.addHook('onSend', async (request, reply) => {
    // These requests were not authenticated. A cookie would belong to no account and would replace the visitor's own.
    if (request.is404) reply.removeHeader('set-cookie')
  })
  app.addHook('onReady', async () => {
    // Not awaited: the server answers other requests while the pages are bundled.
    service.load().catch((err: unknown) => { app.log.error({ err }, 'the web pages could not be bundled') })
  })
  return service
}

export default plugin
