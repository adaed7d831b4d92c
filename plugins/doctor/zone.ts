import { type Finding, warn } from './finding.ts'

/** Checks the time zone, because Node silently treats an unknown one as UTC. */
export function examineZone (zone: string | undefined): Finding[] {
  if (zone === undefined || zone === '') return []
  try {
    Intl.DateTimeFormat('en', { timeZone: zone.replace(/^:/, '') })
    return []
  } catch {
    return [warn('time zone', `TZ is "${zone}", which is not a time zone`, 'Set TZ to a time zone such as Europe/Berlin, or unset it')]
  }
}
