import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../../core/typebox.ts'

export type Cookies = Record<string, string>

/** What a browser keeps of an answer. */
export function readCookies (reply: { cookies: { name: string, value: string }[] }): Cookies {
  return Object.fromEntries(reply.cookies.map(({ name, value }) => [name, value]))
}

/** What a page of ours sends: the cookies, and the CSRF value again as a header. */
export const browserHeaders = (cookies: Cookies) => ({
  cookie: Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; '),
  'x-csrftoken': cookies.svc_csrftoken ?? ''
})

export const basicHeaders = (username: string, password = 'password') =>
  ({ authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` })

interface Given { address?: string, userAgent?: string, password?: string }

/** Signs in as a browser and returns the headers of its later requests. */
export async function signIn (app: App, username: string, given: Given = {}) {
  const { address = '127.0.0.1', userAgent = 'test', password } = given
  const reply = await app.inject({
    method: 'POST',
    url: '/api/login',
    remoteAddress: address,
    headers: { ...basicHeaders(username, password), 'user-agent': userAgent }
  })
  if (reply.statusCode !== 200) throw new Error(`sign-in failed: ${reply.statusCode} ${reply.body}`)
  return browserHeaders(readCookies(reply))
}

/** Headers of a browser that nobody has signed in with. */
export const guestHeaders = async (app: App) => browserHeaders(readCookies(await app.inject({ url: '/api/heartbeat' })))

export async function until (isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!await isSo()) await sleep(10)
}
