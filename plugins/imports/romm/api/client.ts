import { Readable } from 'node:stream'
import { HttpStatusError } from '@svc/plugin-sdk'
import { originOf } from '../../../../core/http/addresses.ts'
import { createHttpClient } from '../../../../core/http/client.ts'
import { USER_AGENT } from '../../../../core/loader/services.ts'
import { FileAbsentError, type ImporterContext, type ImporterSettings, SourceError } from '../../contract.ts'
import { isObject } from '../values.ts'

/** An object of an answer, whose fields nobody has checked. */
export type Item = Readonly<Record<string, unknown>>

/** The API of one RomM, as one account sees it. */
export interface RommClient {
  /** The address without user, query and slash at its end. */
  readonly address: string
  /** Returns an answer that must be an object. @throws SourceError */
  getObject (path: string): Promise<Item>
  /** Returns an object that may be gone; null if it is. */
  findObject (path: string): Promise<Item | null>
  /** Returns the objects of a list; none, with a warning, if the account or this release has no such list. */
  getList (path: string, query?: Readonly<Record<string, string | number>>): Promise<Item[]>
  /** Opens the content of the first path that exists. @throws FileAbsentError */
  openContent (paths: readonly string[]): Promise<Readable>
  close (): Promise<void>
}

const ANSWER_MAX_BYTES = 64 * 1024 ** 2
const CONTENT_MAX_BYTES = 2 * 1024 ** 3
const TIMEOUT_MS = 120_000
/** Statuses of an account without the right, and of a release without the route. */
const NOT_OFFERED = new Set([403, 404, 405])

/** Creates the client. It reaches only the host and port of the address, which the operator names and may be local. */
export function createRommClient (settings: ImporterSettings, { log, signal, warn }: ImporterContext): RommClient {
  const url = parseAddress(settings.address ?? '')
  const token = settings.token ?? ''
  if (token === '') {
    throw new SourceError('An import by address needs a client token of a RomM account, or its user:password. Give it with --token-file')
  }
  const address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  const http = createHttpClient({
    name: 'import', userAgent: USER_AGENT, log, signal, secrets: [token], trustedOrigins: [originOf(url)], hosts: []
  })
  const authorization = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
  const options = { headers: { authorization }, redirects: 0 }
  const warned = new Set<string>()

  const get = (path: string, query = {}): Promise<unknown> =>
    http.json(address + path, { ...options, query, timeoutMs: TIMEOUT_MS, maxBytes: ANSWER_MAX_BYTES })

  return {
    address,

    async getObject (path) {
      try {
        const answer = await get(path)
        if (isObject(answer)) return answer
        throw new SourceError('its answer is not that of RomM')
      } catch (err) {
        signal.throwIfAborted()
        throw new SourceError(`RomM at ${address} cannot be read: ${explain(err)}`, { cause: err })
      }
    },

    async findObject (path) {
      try {
        const answer = await get(path)
        return isObject(answer) ? answer : null
      } catch (err) {
        if (!isNotOffered(err)) throw err
        return null
      }
    },

    async getList (path, query) {
      try {
        const answer = await get(path, query)
        const items: unknown = isObject(answer) ? answer.items : answer
        if (Array.isArray(items)) return items.filter(isObject)
        throw new SourceError(`RomM at ${address} answered ${path} with something that is no list. Check the address`)
      } catch (err) {
        if (!isNotOffered(err)) throw err
        if (!warned.has(path)) {
          warn(`${path} was not read: RomM answered ${err.status}. The token lacks the right, or this RomM has no such list`)
        }
        warned.add(path)
        return []
      }
    },

    async openContent (paths) {
      for (const path of paths) {
        try {
          const content = http.stream(address + path, { ...options, maxBytes: CONTENT_MAX_BYTES })
          const chunks = content[Symbol.asyncIterator]()
          // The status is known with the first bytes.
          const first = await chunks.next()
          return Readable.from(prepend(first, chunks), { objectMode: false })
        } catch (err) {
          if (!isNotOffered(err)) throw err
        }
      }
      throw new FileAbsentError(`RomM at ${address} has no file at ${paths.join(' or ')}`)
    },

    close: () => http.close()
  }
}

const isNotOffered = (err: unknown): err is HttpStatusError =>
  err instanceof HttpStatusError && NOT_OFFERED.has(err.status)

function parseAddress (address: string): URL {
  const url = URL.parse(address)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new SourceError(`The address ${JSON.stringify(address)} of RomM is no http or https address. Give it as https://romm.example`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new SourceError('The address of RomM contains a password. Give user:password as the token instead')
  }
  return url
}

function explain (err: unknown): string {
  if (!(err instanceof HttpStatusError)) return err instanceof Error ? err.message : String(err)
  const isRefused = err.status === 401 || err.status === 403
  if (isRefused) return 'it refused the token. Create one with the scopes that the documentation lists'
  if (err.status >= 300 && err.status < 400) return `it redirects (${err.status}). Give the address that it redirects to`
  return `it answered ${err.status}. Check the address`
}

/** Returns chunks from the first one on. Ending them early ends the response too, even before the first one is read. */
function prepend (
  first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>
): AsyncIterable<Uint8Array> {
  let isFirst = true
  const iterator: AsyncIterator<Uint8Array> = {
    async next () {
      if (!isFirst) return await rest.next()
      isFirst = false
      return first
    },
    async return () {
      await rest.return?.()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
