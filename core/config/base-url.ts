import type { Config } from './schema.ts'

const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', ''])

/** Returns the path under which everything is served: `''`, or `/games` for `https://home.example/games`. */
export function basePath (config: Config): string {
  return new URL(config.server.base_url).pathname.replace(/\/+$/, '')
}

/** Returns the base URL if other machines can reach its host, else null. */
export function shareableBaseUrl (config: Config): string | null {
  const url = new URL(config.server.base_url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || host.startsWith('127.') ||
    host === '::1' || host === '::'
  return isLocal ? null : config.server.base_url.replace(/\/+$/, '')
}

/** Returns the URL to open: the configured one if it names a host, else that of this machine. */
export function listenUrl (config: Config, port: number): string {
  const { host } = config.server
  const name = EVERYWHERE.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}${basePath(config)}`
}
