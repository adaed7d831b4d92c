import type { FastifyInstance } from 'fastify'

/**
 * Warns once when a proxy that is not trusted names its visitors. They all share the proxy's address, and so all wait
 * when one of them guesses passwords.
 */
export function warnOfUntrustedProxies (app: FastifyInstance): void {
  let isTold = false
  app.addHook('onRequest', async ({ headers, ip, ips }) => {
    // Beside its own address a trusted peer brings that of its visitor.
    if (isTold || headers['x-forwarded-for'] === undefined || (ips?.length ?? 1) > 1) return
    isTold = true
    app.log.warn({ address: ip }, 'a proxy at this address sends X-Forwarded-For but is not trusted, so that all its visitors ' +
      'count as one: if the proxy is yours, name it in SVC_TRUSTED_PROXIES')
  })
}
