import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** CORS adds this method to every address, so it says nothing about the routes there. */
const PREFLIGHT = 'OPTIONS'

/**
 * Finds the methods of an address. Fastify's router only tells whether it knows one method and address.
 *
 * @returns a function that takes the path and query of a request; call it after all routes are registered
 */
export function trackMethods (app: FastifyInstance): (url: string) => string[] {
  const routes = new Map<string, { method: HTTPMethod, url: string }>()
  app.addHook('onRoute', ({ method, url }: RouteOptions) => {
    for (const one of [method].flat() as HTTPMethod[]) routes.set(`${one} ${url}`, { method: one, url })
  })

  /** Built at first use, because most processes never need it. */
  function build () {
    const { ignoreTrailingSlash = false, maxParamLength = 100 } = app.initialConfig.routerOptions ?? {}
    const router = findMyWay({ ignoreTrailingSlash, maxParamLength })
    for (const { method, url } of routes.values()) router.on(method, url, () => {})
    const methods = new Set([...routes.values()].map(({ method }) => method))
    methods.delete(PREFLIGHT)
    return { router, methods: [...methods] }
  }
  let built: ReturnType<typeof build> | null = null

  return (url) => {
    const { router, methods } = built ??= build()
    return methods.filter((method) => router.find(method, url) !== null).sort()
  }
}
