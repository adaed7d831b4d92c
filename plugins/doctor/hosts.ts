import type pg from 'pg'
import { terminalLine } from '../../core/cli/terminal-line.ts'
import { examineAnswers } from './ask-hosts.ts'
import { type CheckInput, type Finding, fail, ok, warn } from './finding.ts'
import { type HostRow, type SettingsChange, selectHosts, selectSettingsChange } from './rows.ts'

const SUBJECT = 'hosts'
/** The largest accepted difference of clocks, because sessions and codes last seconds to minutes. */
const SKEW_MAX_MS = 2_000

/** A host with a name that no other host has. */
type Named = HostRow & { name: string }

/** Tells hosts of the same name apart by their address, or by a number. */
function nameHosts (hosts: readonly HostRow[]): Named[] {
  const count = (name: string) => hosts.filter(({ host_name: other }) => other === name).length
  return hosts.map((host, index) => ({
    ...host,
    name: count(host.host_name) === 1 ? host.host_name : `${host.host_name} ${host.address ?? `#${index + 1}`}`
  }))
}

function describeHost ({ name, release, roles, duties }: Named): string {
  const parts = roles.map(({ role, count }) => count === 1 ? role : `${count} ${role}`)
  return `${name} (${release}: ${parts.join(', ')}${duties.length > 0 ? `; has the duties ${duties.join(', ')}` : ''})`
}

function examineReleases (hosts: readonly Named[]): Finding[] {
  const releases = new Set(hosts.map(({ release }) => release))
  return releases.size < 2
    ? []
    : [warn(SUBJECT, `The hosts run ${releases.size} releases: ${hosts.map(({ name, release }) => `${name} ${release}`).join(', ')}`,
        'Finish the upgrade, one host after the other')]
}

function examineClocks (hosts: readonly Named[]): Finding[] {
  const skewed = hosts.filter(({ clock_ahead_ms: ms }) => Math.abs(ms) > SKEW_MAX_MS)
  return skewed.map(({ name, clock_ahead_ms: ms }) =>
    fail(SUBJECT, `The clock of ${name} is ${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} that of the database`,
      'Synchronise both with a time server (NTP), because tokens, codes and schedules depend on them'))
}

/** Web workers need each other's address only if there are several hosts with some. */
function examineAddresses (hosts: readonly Named[]): Finding[] {
  const webs = hosts.filter(({ roles }) => roles.some(({ role }) => role === 'web'))
  const silent = webs.filter(({ address }) => address === null).map(({ name }) => name)
  return webs.length < 2 || silent.length === 0
    ? []
    : [warn(SUBJECT, `The other hosts cannot pass requests of sockets to ${silent.join(', ')}`,
        'Set SVC_INTERNAL_ADDRESS there, or make the load balancer send each client to one host')]
}

function examinePackages (hosts: readonly Named[]): Finding[] {
  const problems = Map.groupBy(hosts, ({ plugins_problem: problem }) => problem)
  return [...problems].flatMap(([problem, of]) => problem === null
    ? []
    // It quotes npm, which quotes packages.
    : [warn(SUBJECT, `The plugins of ${of.map(({ name }) => name).join(', ')} are not those of all hosts: ${terminalLine(problem)}`,
        'Correct the cause in the message; a host tries again, and loads plugins when it starts')])
}

/** Names the origin of the settings of all hosts, and the hosts that have others. */
function examineSettings (hosts: readonly Named[], change: SettingsChange | null): Finding[] {
  const problems = hosts.flatMap(({ name, settings_problem: problem }) => problem === null
    ? []
    : [warn(SUBJECT, `${name} has other settings than all hosts: ${terminalLine(problem)}`,
        'Correct the cause in the message; the host compares its config.yml again')])
  if (problems.length > 0 || change === null || hosts.length === 1) return problems
  const { section, changed_by: by, changed_at: at } = change
  return [ok(SUBJECT, `The database has the settings of config.yml for all hosts; the last change was ${section}, on ${terminalLine(by)}, ${at.toISOString()}`)]
}

/** Checks the running hosts of a database whose schema is current. */
export async function examineHosts (input: Pick<CheckInput, 'config'>, pool: pg.Pool): Promise<Finding[]> {
  const hosts = nameHosts(await selectHosts(pool))
  if (hosts.length === 0) return []
  const answers = hosts.length === 1 ? [] : await examineAnswers(input, pool, hosts)
  const examinations = [examineReleases, examineClocks, examineAddresses, examinePackages]
  const problems = [
    ...examinations.flatMap((examination) => examination(hosts)),
    ...examineSettings(hosts, await selectSettingsChange(pool))
  ]
  return [ok(SUBJECT, `${hosts.length === 1 ? 'One host runs' : `${hosts.length} hosts run`}: ${hosts.map(describeHost).join(', ')}`), ...problems, ...answers]
}
