import type { Config } from '../config/config.ts'
import { listenUrl, shareableBaseUrl } from '../config/base-url.ts'
import { listRoots } from '../config/path-mask.ts'
import type { PluginRecord } from '../loader/registry.ts'
import { commandLine } from '../process/command-line.ts'
import { VERSION } from '../version.ts'

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
