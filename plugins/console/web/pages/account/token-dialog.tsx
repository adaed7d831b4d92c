import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import type { User } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Qr } from '../../ui/qr.tsx'
import { Notice } from '../../ui/state.tsx'
import { type Preset, ScopeList, scopesOf } from './scopes.tsx'

type Lifetime = '30d' | '90d' | '1y' | 'never'
interface TokenDialogProps { user: User, onClose: () => void, onCreated: () => void }

/** The token itself, which the server never shows again. */
function Secret ({ raw }: { raw: string }) {
  const { tokens } = texts().account
  return (
    <div class='secret'>
      <div class='stack'>
        <Notice kind='warning'>{tokens.once}</Notice>
        <CopyField label={tokens.secret} hint={tokens.secretHint} value={raw} />
      </div>
      <Qr text={raw} label={tokens.qr} />
    </div>
  )
}

const FORM = 'token-form'

/** Creates a token, then shows it once. */
export function TokenDialog ({ user: { oauth_scopes: held }, onClose, onCreated }: TokenDialogProps) {
  const { common, account: { tokens } } = texts()
  const [raw, setRaw] = useState<string | null>(null)
  const initial: { name: string, preset: Preset, scopes: string[], lifetime: Lifetime } = {
    name: '', preset: 'playing', scopes: scopesOf('playing', held), lifetime: 'never'
  }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(initial, async ({ name, scopes, lifetime }) => {
    const chosen = held.filter((scope) => scopes.includes(scope))
    const created = await call(api.POST('/api/client-tokens', { body: { name, scopes: chosen, expires_in: lifetime } }))
    setRaw(created.raw_token)
    onCreated()
  })
  function choosePreset (preset: Preset): void {
    set('preset', preset)
    if (preset !== 'own') set('scopes', scopesOf(preset, held))
  }
  const foot = raw === null
    ? (
      <>
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button kind='primary' type='submit' form={FORM} isBusy={isBusy} disabled={values.scopes.length === 0}>{tokens.create}</Button>
      </>
      )
    : <Button kind='primary' onClick={onClose}>{tokens.done}</Button>
  return (
    <Dialog title={raw === null ? tokens.create : values.name} isOpen onClose={onClose} foot={foot}>
      {raw !== null && <Secret raw={raw} />}
      {raw === null && (
        <form id={FORM} class='stack' onSubmit={onSubmit}>
          {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
          <TextField
            label={tokens.name} hint={tokens.nameHint} required autofocus maxLength={255} autocomplete='off'
            error={errorOf('name')} value={values.name} onInput={(name) => { set('name', name) }}
          />
          <div class='field-row'>
            <Select label={tokens.preset} value={values.preset} options={tokens.presets} onChange={choosePreset} />
            <Select
              label={tokens.lifetime} value={values.lifetime} options={tokens.lifetimes}
              onChange={(lifetime) => { set('lifetime', lifetime) }}
            />
          </div>
          <ScopeList
            label={tokens.scopes} offered={held} held={held} chosen={values.scopes}
            onChange={(scopes) => { set('preset', 'own'); set('scopes', scopes) }}
          />
        </form>
      )}
    </Dialog>
  )
}
