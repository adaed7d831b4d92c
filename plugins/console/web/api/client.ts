import createClient, { type Middleware } from 'openapi-fetch'
import { BASE_PATH } from '../base.ts'
import { probe, reportReached, reportSignedOut } from './connection.ts'
import { texts } from '../i18n/language.ts'
import { Failure, describeStatus, isCancelled, isProxyFailure, readFailure } from './failure.ts'
import type { paths } from './schema.d.ts'

/** Returns the CSRF token, which pages of other sites cannot read and therefore cannot send. */
const readCsrf = (): string => /(?:^|; )svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

const browserHeaders: Middleware = {
  onRequest ({ request }) {
    if (!SAFE_METHODS.has(request.method)) request.headers.set('x-csrftoken', readCsrf())
    return request
  }
}

/** The typed client of this server: `call(api.GET('/api/roms/{id}', { params: { path: { id } } }))`. */
export const api = createClient<paths>({
  baseUrl: BASE_PATH.replace(/\/$/, ''), credentials: 'same-origin', querySerializer: { array: { style: 'form', explode: true } }
})
api.use(browserHeaders)

interface Answer<Data> { data?: Data, error?: unknown, response: Response }

/** Returns a response with its data. @throws Failure with the server's reason, or status 0 without a response */
export async function receive<Data> (request: Promise<Answer<Data>>): Promise<{ data: Data, response: Response }> {
  let answer: Answer<Data>
  try {
    answer = await request
  } catch (err) {
    if (isCancelled(err)) throw err
    void probe()
    // Browsers say little about it, and only in their own language.
    throw new Failure(0, texts().errors.unreachable.title)
  }
  const { response } = answer
  if (isProxyFailure(response.status)) void probe()
  else reportReached(true)
  if (response.ok) return { data: answer.data as Data, response }
  if (response.status === 401) reportSignedOut()
  throw readFailure(response.status, answer.error, describeStatus(response.status, texts().errors))
}

/** Returns the data of a response. @throws Failure as `receive` does */
export const call = async <Data>(request: Promise<Answer<Data>>): Promise<Data> => (await receive(request)).data
