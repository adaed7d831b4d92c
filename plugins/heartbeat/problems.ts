import type { Config } from '../../core/config/config.ts'
import type { ProxyProblem, ProxyProblemKind } from '../../core/sockets/proxy-problems.ts'
import type { Problem } from './schemas.ts'

/** The settings that a proxy needs for WebSockets, besides the address of the server. */
const UPGRADE_LINES = [
  'nginx, in http: map $http_upgrade $connection_upgrade { default upgrade; \'\' \'\'; }',
  'nginx, in location: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; ' +
    'proxy_set_header Connection $connection_upgrade;',
  'Apache 2.4.47 or later: ProxyPass / http://127.0.0.1:8080/ upgrade=websocket',
  'HAProxy: timeout tunnel 1h',
  'Caddy and Traefik forward upgrades without a setting: check the proxies in front of them'
]

type DescribeProblem = (subject: string, config: Config) => Pick<Problem, 'message' | 'remedy' | 'lines'>

const DESCRIPTIONS: Record<ProxyProblemKind, DescribeProblem> = {
  origin_refused: (subject, { server: { base_url: baseUrl } }) => ({
    message: `Pages of ${subject} may not open sockets: this server is at ${baseUrl}`,
    remedy: 'If that is an address of this server, set SVC_BASE_URL to it and let the proxy forward Host; if it is another site of ' +
      'yours, add it to SVC_CORS_ALLOWED_ORIGINS',
    lines: []
  }),
  upgrade_missing: (subject) => ({
    message: `Sockets through ${subject} use only polling, because WebSocket upgrades are not forwarded`,
    remedy: 'Configure the proxy to forward the headers Upgrade and Connection',
    lines: UPGRADE_LINES
  }),
  clients_trusted: (subject, { server: { trusted_proxies: trusted } }) => ({
    message: `The address ${subject} of a visitor is in a network of SVC_TRUSTED_PROXIES (${trusted.join(', ')}), so the visitor can claim any address`,
    remedy: 'List the address of each proxy in SVC_TRUSTED_PROXIES, and no network of visitors',
    lines: []
  })
}

/** Describes for the operator the configuration problems that requests have shown. */
export function describeProblems (signs: readonly ProxyProblem[], config: Config): Problem[] {
  return signs.map((problem) => ({ ...problem, ...DESCRIPTIONS[problem.kind](problem.subject, config) }))
}

/** Describes for the operator why the current config.yml is not in force; empty if it is. */
export function describeConfigProblem ({ file }: Config): Problem[] {
  const reason = file.findProblem()
  if (reason === null) return []
  return [{
    kind: 'config_unusable',
    subject: file.path,
    seen_at: new Date().toISOString(),
    message: `The changed configuration cannot be used: ${reason}. The former settings stay in use`,
    remedy: 'Correct the file; the server then reads it again',
    lines: []
  }]
}
