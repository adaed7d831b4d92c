import { api, call } from '../../api/client.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Check, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import type { Library } from './library-views.ts'

const FORM = 'library-form'

interface LibraryDialogProps {
  /** Null for a new library. */
  library: Library | null
  onClose: () => void
  onSaved: () => void
}

/** Names the folder of a library on the server. */
export function LibraryDialog ({ library, onClose, onSaved }: LibraryDialogProps) {
  const { common, setup: { dialog, addFolder, changeNamed } } = texts()
  const initial = { name: library?.name ?? '', path: library?.path ?? '', writable: library?.is_writable ?? true }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(initial, async (body) => {
    if (library === null) await call(api.POST('/api/libraries', { body }))
    else await call(api.PUT('/api/libraries/{id}', { params: { path: { id: library.id } }, body }))
    onSaved()
  })
  return (
    <Dialog
      title={library === null ? addFolder : changeNamed(library.name)} isOpen onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind='primary' type='submit' form={FORM} isBusy={isBusy}>{common.save}</Button>
        </>
      }
    >
      <form id={FORM} class='stack' onSubmit={onSubmit}>
        {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        <TextField
          label={dialog.path} hint={dialog.pathHint} required autofocus autocomplete='off' autocapitalize='none'
          placeholder='/srv/games' error={errorOf('path')} value={values.path} onInput={(path) => { set('path', path) }}
        />
        <TextField
          label={dialog.name} required maxLength={100} autocomplete='off' error={errorOf('name')}
          value={values.name} onInput={(name) => { set('name', name) }}
        />
        <Check
          label={dialog.writable} hint={dialog.writableHint} isChecked={values.writable}
          onChange={(isChecked) => { set('writable', isChecked) }}
        />
      </form>
    </Dialog>
  )
}
