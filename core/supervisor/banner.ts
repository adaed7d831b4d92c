import { join, relative } from 'node:path'
import type { Config } from '../config/config.ts'
import { basePath, shareableBaseUrl } from '../config/base-url.ts'
import { listRoots } from '../config/path-mask.ts'
import { SERVER_DIR } from '../server-dir.ts'
import type { PluginRecord } from '../loader/registry.ts'
import { VERSION } from '../version.ts'

const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', ''])

/** Returns the URL to open: the configured one if it names a host, else that of this machine. */
export function listenUrl (config: Config, port: number): string {
  const { host } = config.server
  const name = EVERYWHERE.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}${basePath(config)}`
}

const quote = (text: string) => /^[\w./:\\@-]+$/.test(text) ? text : `"${text}"`

/** Returns the command of this installation's command line, relative to the current folder. */
export function commandLine (config: Config, ...args: string[]): string {
  const script = join(SERVER_DIR, 'core', 'svc.js')
  const relativePath = relative(process.cwd(), script)
  const isDefault = config.data_dir === join(process.cwd(), 'data')
  return ['node', quote(relativePath.startsWith('..') ? script : relativePath),
    ...(isDefault ? [] : ['--data-dir', quote(config.data_dir)]), ...args].join(' ')
}

const nameOf = ({ kind, key }: PluginRecord) => `${kind ?? 'package'} ${key}`

/**
 * Describes the plugins for the banner. Disabled ones are many and no problem, so their reasons are shown only on
 * demand.
 */
function describePlugins (config: Config, plugins: readonly PluginRecord[]): string[] {
  const { active = [], disabled = [], ...others } = Object.groupBy(plugins, ({ status }) => status)
  const lines = [`${active.length} active${active.length === 0 ? '' : `: ${active.map(nameOf).join(', ')}`}`]
  if (disabled.length > 0) {
    lines.push(`${disabled.length} off: ${disabled.map(nameOf).join(', ')}`, `why: ${commandLine(config, 'plugins')}`)
  }
  for (const plugin of Object.values(others).flat()) lines.push(`${plugin.status}: ${nameOf(plugin)} (${plugin.reason ?? ''})`)
  return lines.map((line, place) => `${place === 0 ? '  plugins   ' : '            '}${line}`)
}

interface FirstAccount { config: Config, address: string, setupCode: string, hasPages: boolean }

/** Says how to create the first administrator. Only a server with pages offers the browser. */
function describeFirstAccount ({ config, address, setupCode, hasPages }: FirstAccount): string[] {
  const command = commandLine(config, 'user', 'add', 'NAME', '--admin')
  const inBrowser = [
    `  There is no administrator yet. Open ${address} in a browser to create one;`,
    `            from another machine the page asks for the setup code ${setupCode}.`,
    `            Or run ${command}`
  ]
  const byApi = [
    `  There is no administrator yet. Run ${command}`,
    `            or send POST ${address}/api/users with the setup code ${setupCode}`
  ]
  return [...(hasPages ? inBrowser : byApi), '            or set SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD and start again.']
}

export interface BannerFacts {
  config: Config
  port: number
  isEmbedded: boolean
  /** Null once there is an administrator. */
  setupCode: string | null
  /** True if the server shows pages to browsers. */
  hasPages: boolean
  plugins: readonly PluginRecord[]
}

/** Returns the information for the operator once the server is up. */
export function renderBanner ({ config, port, isEmbedded, setupCode, hasPages, plugins }: BannerFacts): string {
  const shared = shareableBaseUrl(config)
  const url = listenUrl(config, port)
  const roots = listRoots(config.libraries)
  return [
    `svc ${VERSION} is ready`,
    `  address   ${shared ?? url}${shared === null ? '' : ` (here: ${url})`}, API reference at ${shared ?? url}/api/docs`,
    `  data      ${config.data_dir}`,
    `  library   ${(roots.length === 0 ? [config.library_dir] : roots).join(', ')}`,
    `  database  ${isEmbedded ? 'embedded' : 'the one of SVC_DATABASE_URL'}`,
    ...describePlugins(config, plugins),
    ...(setupCode === null ? [] : describeFirstAccount({ config, address: shared ?? url, setupCode, hasPages }))
  ].join('\n')
}
