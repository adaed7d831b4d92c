import type { Files, Logger, ProviderContext, RequestOptions } from '@svc/plugin-sdk'
import { findLimitsProblem } from '../checks/check-definition.ts'
import type { RequestLimits } from './request-limits.ts'

type ContextCall = (ctx: ProviderContext, ...args: never[]) => unknown

/** The largest response or file that this process holds in memory for a plugin. */
const MEMORY_MAX_BYTES = 64 * 1024 ** 2
/** The largest response that it stores on disk, or passes on piece by piece. */
const STREAM_MAX_BYTES = 4 * 1024 ** 3
const REQUEST_MAX_MS = 60 * 60_000
const REDIRECTS_MAX = 20

/** Returns a number that a plugin chose, from 0 to `most`; undefined stays, for the default. */
const limitNumber = (value: unknown, max: number) =>
  value === undefined ? undefined : typeof value === 'number' && value >= 0 && value <= max ? value : max

/** Limits the numbers of a request: a value that is no number would be no limit at all. */
const limitRequest = (options: RequestOptions = {}, mostBytes = MEMORY_MAX_BYTES): RequestOptions =>
  Object.assign({ ...options }, {
    maxBytes: limitNumber(options.maxBytes, mostBytes),
    timeoutMs: limitNumber(options.timeoutMs, REQUEST_MAX_MS),
    redirects: limitNumber(options.redirects, REDIRECTS_MAX)
  })

const LEVELS: readonly (keyof Logger)[] = ['debug', 'info', 'warn', 'error']

function filesOf (ctx: ProviderContext, folder: string | null): Files {
  const files = folder === null ? ctx.files : Object.hasOwn(ctx.folders, folder) ? ctx.folders[folder] : undefined
  if (files === undefined) throw new Error(`There is no folder '${String(folder)}'; ctx.folders contains the configured folders`)
  return files
}

/** Calls that a plugin's process may make on the context of one of its calls; see `createRemoteContext`. */
const CALLS: Readonly<Record<string, ContextCall>> = {
  'http.request': async ({ http }, ...[url, options]: Parameters<typeof http.request>) => {
    const { status, headers, bytes, isReused } = await http.request(url, limitRequest(options))
    return { status, headers, bytes, isReused }
  },
  'http.json': ({ http }, ...[url, options]: Parameters<typeof http.json>) => http.json(url, limitRequest(options)),
  'http.text': ({ http }, ...[url, options]: Parameters<typeof http.text>) => http.text(url, limitRequest(options)),
  'http.stream': ({ http }, ...[url, options]: Parameters<typeof http.stream>) =>
    http.stream(url, limitRequest(options, STREAM_MAX_BYTES)),
  'http.unzip': ({ http }, ...[url, members, options]: Parameters<typeof http.unzip>) =>
    http.unzip(url, members, limitRequest(options, STREAM_MAX_BYTES)),
  'http.setLimits': ({ http, log }, limits: Parameters<typeof http.setLimits>[0]) => {
    const problem = findLimitsProblem(limits)
    if (problem === undefined) http.setLimits(limits)
    else log.warn({ problem }, 'the limits that this plugin reported are invalid')
  },
  'http.setAllowance': ({ http }, ...args: Parameters<typeof http.setAllowance>) => { http.setAllowance(...args) },
  'cache.get': ({ cache }, ...args: Parameters<typeof cache.get>) => cache.get(...args),
  'cache.set': ({ cache }, ...args: Parameters<typeof cache.set>) => cache.set(...args),
  'cache.delete': ({ cache }, ...args: Parameters<typeof cache.delete>) => cache.delete(...args),
  'files.readText': (ctx, folder: string | null, ...[path, maxBytes]: Parameters<Files['readText']>) =>
    filesOf(ctx, folder).readText(path, limitNumber(maxBytes, MEMORY_MAX_BYTES)),
  'files.stream': (ctx, folder: string | null, path: string) => filesOf(ctx, folder).stream(path),
  'files.list': (ctx, folder: string | null, path: string) => filesOf(ctx, folder).list(path),
  'files.exists': (ctx, folder: string | null, path: string) => filesOf(ctx, folder).exists(path),
  'index.getMany': ({ index }, keys: readonly string[]) => index.getMany(keys),
  'index.builtAt': ({ index }) => index.builtAt(),
  log: ({ log }, level: keyof Logger, fields: object, message: string) => {
    if (LEVELS.includes(level)) log[level](fields, message)
  },
  report: ({ report }, ...args: Parameters<typeof report>) => { report(...args) },
  explain: ({ explain }, ...args: Parameters<typeof explain>) => { explain(...args) }
}

const NOTIFICATIONS = new Set(['http.setLimits', 'http.setAllowance', 'log', 'report', 'explain'])

/** True if a plugin's process need not wait for the answer; a method that takes time counts as one of its calls. */
export const isNotification = (method: string) => NOTIFICATIONS.has(method)

/** True if a method of a context may only be called while the call that got the context is running. */
export const isOfOneCall = (method: string) => method.startsWith('http.') || method === 'report' || method === 'explain'

export function callContext (
  ctx: ProviderContext, method: string, args: readonly unknown[], limitRequests: RequestLimits
): unknown {
  const call = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined
  if (call === undefined) throw new Error(`A context has no '${method}'`)
  const given = method.startsWith('http.') ? { ...ctx, http: limitRequests(ctx.http, ctx.signal) } : ctx
  return call(given, ...args as never[])
}
