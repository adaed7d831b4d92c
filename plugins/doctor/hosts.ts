import type pg from 'pg'
import { type Finding, fail, ok, warn } from './finding.ts'
import { type HostRow, selectHosts } from './rows.ts'

const SUBJECT = 'hosts'
/** The largest accepted difference of clocks, because sessions and codes last seconds to minutes. */
const SKEW_MAX_MS = 2_000

function describeHost ({ host_name: name, release, roles, duties }: HostRow): string {
  const parts = roles.map(({ role, count }) => count === 1 ? role : `${count} ${role}`)
  return `${name} (${release}: ${parts.join(', ')}${duties.length > 0 ? `; has the duties ${duties.join(', ')}` : ''})`
}

function examineReleases (hosts: readonly HostRow[]): Finding[] {
  const releases = new Set(hosts.map(({ release }) => release))
  return releases.size < 2
    ? []
    : [warn(SUBJECT, `The hosts run ${releases.size} releases: ${hosts.map(({ host_name: name, release }) => `${name} ${release}`).join(', ')}`,
        'Finish the upgrade, one host after the other')]
}

function examineClocks (hosts: readonly HostRow[]): Finding[] {
  const skewed = hosts.filter(({ clock_ahead_ms: ms }) => Math.abs(ms) > SKEW_MAX_MS)
  return skewed.map(({ host_name: name, clock_ahead_ms: ms }) =>
    fail(SUBJECT, `The clock of ${name} is ${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} that of the database`,
      'Synchronise both with a time server (NTP), because tokens, codes and schedules depend on them'))
}

/** Web workers need each other's address only if there are several hosts with some. */
function examineAddresses (hosts: readonly HostRow[]): Finding[] {
  const webs = hosts.filter(({ roles }) => roles.some(({ role }) => role === 'web'))
  const silent = webs.filter(({ address }) => address === null).map(({ host_name: name }) => name)
  return webs.length < 2 || silent.length === 0
    ? []
    : [warn(SUBJECT, `The other hosts cannot pass requests of sockets to ${silent.join(', ')}`,
        'Set SVC_INTERNAL_ADDRESS there, or make the load balancer send each client to one host')]
}

function examinePackages (hosts: readonly HostRow[]): Finding[] {
  return hosts.flatMap(({ host_name: name, plugins_problem: problem }) => problem === null
    ? []
    : [warn(SUBJECT, `The plugins of ${name} are not those of all hosts: ${problem}`,
        'Correct the cause in the message; the host tries again, and loads plugins when it starts')])
}

/** Checks the running hosts of a database whose schema is current. */
export async function examineHosts (pool: pg.Pool): Promise<Finding[]> {
  const hosts = await selectHosts(pool)
  if (hosts.length === 0) return []
  const examinations = [examineReleases, examineClocks, examineAddresses, examinePackages]
  const problems = examinations.flatMap((examination) => examination(hosts))
  return [ok(SUBJECT, `${hosts.length === 1 ? 'One host runs' : `${hosts.length} hosts run`}: ${hosts.map(describeHost).join(', ')}`), ...problems]
}
