import type { User } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Check } from '../../ui/field.tsx'

export type Scope = User['oauth_scopes'][number]

/** What an app for playing on a device needs: reading everything, and writing saves, play time and ratings. */
const PLAYING: ReadonlySet<Scope> = new Set<Scope>([
  'me.read', 'roms.read', 'platforms.read', 'assets.read', 'assets.write', 'devices.read', 'devices.write', 'firmware.read',
  'roms.user.read', 'roms.user.write', 'collections.read', 'collections.write'
])

const ADMINISTRATIVE: ReadonlySet<Scope> = new Set<Scope>(['users.read', 'logs.read'])

export type Preset = 'playing' | 'reading' | 'everything' | 'own'

/** Returns the rights of a preset, among those that the account has. */
export function scopesOf (preset: Preset, held: readonly Scope[]): Scope[] {
  if (preset === 'playing') return held.filter((scope) => PLAYING.has(scope))
  if (preset === 'reading') return held.filter((scope) => scope.endsWith('.read') && !ADMINISTRATIVE.has(scope))
  return preset === 'everything' ? [...held] : []
}

const isScope = (value: string): value is Scope => Object.hasOwn(texts().account.scopes, value)
/** Returns the words for a right; a right of a newer server stands for itself. */
export const describeScope = (scope: string): string => isScope(scope) ? texts().account.scopes[scope] : scope

interface ScopeListProps {
  label: string
  offered: readonly string[]
  /** The offered rights that the account has. */
  held: readonly string[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

/** Rights of an app, explained in words. */
export function ScopeList ({ label, offered, held, chosen, onChange }: ScopeListProps) {
  const { account } = texts()
  const allowed = offered.filter((scope) => held.includes(scope))
  const refused = offered.filter((scope) => !held.includes(scope))
  return (
    <fieldset class='scope-list'>
      <legend class='field-label'>{label}</legend>
      {allowed.map((scope) => (
        <Check
          key={scope} label={describeScope(scope)} isChecked={chosen.includes(scope)}
          onChange={(isChecked) => {
            onChange(isChecked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
          }}
        />
      ))}
      {refused.length > 0 && <p class='field-hint'>{account.refusedScopes(refused.map(describeScope))}</p>}
    </fieldset>
  )
}
