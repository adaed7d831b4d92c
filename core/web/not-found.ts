import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** Any address has it once pages of other sites may call, and so it says nothing about what is served there. */
const PREFLIGHT = 'OPTIONS'

/**
 * Tells which methods an address is served with. Fastify's router tells only whether it knows one method and address.
 *
 * @returns a function that takes the path and query of a request; to be called once all routes are there
 */
export function trackMethods (app: FastifyInstance): (url: string) => string[] {
  const routes = new Map<string, { method: HTTPMethod, url: string }>()
  app.addHook('onRoute', ({ method, url }: RouteOptions) => {
    for (const one of [method].flat() as HTTPMethod[]) routes.set(`${one} ${url}`, { method: one, url })
  })

  /** Made with the first request that needs it: most processes never do. */
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
