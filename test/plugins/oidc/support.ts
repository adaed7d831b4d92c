import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type AccountClaims } from 'oidc-provider'
import type { Test as TapTest } from 'tap'
import type { TestApp } from '../../support.ts'

type Test = Pick<TapTest, 'teardown'>
export type Cookies = Map<string, string>
export type Person = Omit<AccountClaims, 'sub'>

export const CLIENT = { id: 'svc', secret: 'a secret of the tests' }

export interface TestProvider {
  issuer: string
  /** All people at the provider, by subject. */
  people: Map<string, Person>
  /** True if the provider answers 503 to every request. */
  isDown: boolean
  requests: string[]
  /** Follows a browser through the provider, where `subject` signs in. @returns the address to which it is sent back */
  visit (url: string, subject: string): Promise<URL>
}

const CLAIMS = {
  openid: ['sub'], profile: ['preferred_username', 'realm_access'], email: ['email', 'email_verified'], groups: ['groups']
}

function createProvider (issuer: string, redirectUri: string, people: TestProvider['people']): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const scope = Object.keys(CLAIMS).join(' ')
  return new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: CLAIMS,
    cookies: { keys: ['a key for tests only'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    jwks: { keys: [privateKey.export({ format: 'jwk' })] },
    // Everybody has consented to every scope.
    async loadExistingGrant ({ oidc }) {
      const accountId = oidc.account?.accountId
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, ...(accountId !== undefined && { accountId }) })
      grant.addOIDCScope(scope)
      await grant.save()
      return grant
    }
  })
}

function keepCookies (cookies: Cookies, lines: readonly string[]): void {
  for (const line of lines) {
    const [pair = ''] = line.split(';')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    cookies.set(name, value)
  }
}

const cookieHeader = (cookies: Cookies) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

/** Starts a real OpenID provider on the loopback address, where a visit is enough to sign in. */
export async function startProvider (t: Test, redirectUri: string): Promise<TestProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people: TestProvider['people'] = new Map()
  const provider = createProvider(issuer, redirectUri, people)
  const answer = provider.callback()
  let visitor = ''

  async function respond (request: IncomingMessage, response: ServerResponse): Promise<void> {
    state.requests.push(`${request.method} ${request.url}`)
    if (state.isDown) response.writeHead(503).end()
    else if (request.url?.startsWith('/interaction/') !== true) await answer(request, response)
    else await provider.interactionFinished(request, response, { login: { accountId: visitor } })
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => { void respond(request, response) })

  const state: TestProvider = {
    issuer,
    people,
    isDown: false,
    requests: [],
    async visit (url, subject) {
      visitor = subject
      const cookies: Cookies = new Map()
      let at = new URL(url)
      while (at.origin === issuer) {
        const reply = await fetch(at, { redirect: 'manual', headers: { cookie: cookieHeader(cookies) } })
        keepCookies(cookies, reply.headers.getSetCookie())
        const location = reply.headers.get('location')
        if (location === null) throw new Error(`The provider answered ${reply.status}: ${await reply.text()}`)
        at = new URL(location, at)
      }
      return at
    }
  }
  return state
}

/** Creates a browser that stores cookies and follows no redirect by itself. */
export function createBrowser ({ app }: TestApp) {
  const cookies: Cookies = new Map()
  return {
    cookies,

    async send (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) {
      const csrf = cookies.get('svc_csrftoken')
      const reply = await app.inject({
        method, url, headers: { cookie: cookieHeader(cookies), ...(csrf !== undefined && { 'x-csrftoken': csrf }), ...headers }
      })
      for (const { name, value } of reply.cookies) {
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return reply
    },

    /** Visits the provider and returns the address of the way back, without opening it. */
    async visit (provider: TestProvider, subject: string, start = '/api/login/openid'): Promise<string> {
      const { headers: { location = '' } } = await this.send('GET', start)
      const { pathname, search } = await provider.visit(location, subject)
      return `${pathname}${search}`
    },

    /** Signs in through the provider. */
    async signIn (provider: TestProvider, subject: string) {
      return await this.send('GET', await this.visit(provider, subject))
    }
  }
}
