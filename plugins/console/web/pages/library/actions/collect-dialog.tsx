import { useState } from 'preact/hooks'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import { type Collection, createCollection, isOwn, useCollections } from '../../../api/collections.ts'
import { format, texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { useForm } from '../../../ui/form.ts'
import { Notice } from '../../../ui/state.tsx'
import { tellFailure } from '../../../ui/toast.tsx'
import { sortCollections } from '../../../api/sort-collections.ts'
import { collect } from './operations.ts'

interface CollectDialogProps { ids: readonly number[], onClose: () => void }

/** Adds the selected ROMs to one of the account's collections, or to a new one. */
export function CollectDialog ({ ids, onClose }: CollectDialogProps) {
  const { list, list: { collectDialog: words, done } } = texts()
  const { data: { value: all = [] } } = useCollections()
  const [busy, setBusy] = useState<number | null>(null)
  const own = sortCollections(all.filter((one) => isOwn(one) && !one.is_favorite), 'name')
  const addTo = async (collection: Collection) => {
    await collect(collection, ids, (count) => done.collected(count, collection.name))
    onClose()
  }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm({ name: '' }, async ({ name }) => {
    await addTo(await createCollection({ name: name.trim() }))
  })
  function choose (collection: Collection): void {
    setBusy(collection.id)
    addTo(collection).catch((err: unknown) => { setBusy(null); tellFailure(err) })
  }
  return (
    <Dialog title={words.title(ids.length)} isOpen onClose={onClose}>
      <div class='stack'>
        {own.length === 0
          ? <p class='soft'>{words.none}</p>
          : (
            <ul class='collect-list' aria-label={words.choose}>
              {own.map((one) => (
                <li key={one.id}>
                  <button type='button' class='collect-choice' disabled={busy !== null} onClick={() => { choose(one) }}>
                    <span>{one.name}</span><span class='faint number'>{format().number(one.rom_count)}</span>
                  </button>
                </li>
              ))}
            </ul>
            )}
        <form class='collect-new' onSubmit={onSubmit}>
          <TextField
            label={words.create} placeholder={words.name} value={values.name} required maxLength={400} error={errorOf('name')}
            onInput={(name) => { set('name', name) }}
          />
          <Button type='submit' kind='primary' icon={plus} isBusy={isBusy}>{words.submit}</Button>
        </form>
        {failure !== null && failure.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        <span class='visually-hidden'>{list.selection.count(ids.length)}</span>
      </div>
    </Dialog>
  )
}
