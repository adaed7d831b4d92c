import type { PluginRecord } from '../../core/loader/registry.ts'
import { findPlugins } from '../plugins/cli.ts'
import { type Examine, type Finding, fail, ok, warn } from './finding.ts'

const SUBJECT = 'plugins'

function toFinding ({ status, package: name, reason }: PluginRecord): Finding[] {
  const why = reason ?? 'no reason is known'
  if (status === 'failed') return [fail(SUBJECT, `${name} does not work: ${why}`, `Update it, or take it out with svc plugins remove ${name}`)]
  if (status === 'unsupported') {
    return [warn(SUBJECT, `${name} is not for this release: ${why}`, `Install a version of it that is: svc plugins add ${name}`)]
  }
  return []
}

/** Plugins that work, those that are off for want of settings, and those that cannot be used. */
export const examinePlugins: Examine = async ({ config, settings }) => {
  const records = await findPlugins(config, settings)
  const active = records.filter(({ status }) => status === 'active')
  const off = records.filter(({ status }) => status === 'disabled')
  const list = off.map(({ key, reason }) => `${key} (${reason ?? ''})`).join(', ')
  return [
    ok(SUBJECT, `${active.length} work${off.length === 0 ? '' : `; ${off.length} are off until they are set up: ${list}`}`),
    ...records.flatMap(toFinding)
  ]
}
