import { useEffect, useMemo, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Collection, type Entered, asForm, createCollection, findChanges } from '../../api/collections.ts'
import { cache } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Check, Field, TextArea, TextField } from '../../ui/field.tsx'
import { createFormDrafts } from '../../ui/form-drafts.ts'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { tellSuccess } from '../../ui/toast.tsx'

/** The address of a picture that a person chose but did not send yet. */
function usePreview (file: File | null): string | null {
  const url = useMemo(() => file === null ? null : URL.createObjectURL(file), [file])
  useEffect(() => () => { if (url !== null) URL.revokeObjectURL(url) }, [url])
  return url
}

interface EnteredPlain extends Entered { removesCover: boolean }
const draftOf = createFormDrafts<EnteredPlain>('collection')

async function storeChanges (
  id: number, former: EnteredPlain, entered: EnteredPlain, artwork: { artwork?: File }
): Promise<void> {
  const changes = findChanges(former, entered)
  const query = { ...changes.query, keep_roms: true, remove_cover: entered.removesCover }
  const body = { ...changes.body, ...artwork }
  await call(api.PUT('/api/collections/{id}', { params: { path: { id }, query }, body, ...asForm }))
}

interface FormDialogProps {
  /** The collection that is changed; absent for a new one. */
  collection?: Collection | undefined
  onClose: () => void
}

/** Creates or changes a collection: name, description, cover, and who sees it. */
export function FormDialog ({ collection, onClose }: FormDialogProps) {
  const { common, collections: { form: words, ...general } } = texts()
  const { go } = useView()
  const [file, setFile] = useState<File | null>(null)
  const preview = usePreview(file)
  const [former] = useState({
    name: collection?.name ?? '', description: collection?.description ?? '', isPublic: collection?.is_public ?? false, removesCover: false
  })
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(former, async (entered) => {
    const artwork = file === null ? {} : { artwork: file }
    if (collection === undefined) {
      const { name, description, isPublic } = entered
      const { id } = await createCollection({ name: name.trim(), description, ...artwork }, { is_public: isPublic })
      tellSuccess(words.created(name))
      go(`collections/${id}`)
    } else {
      await storeChanges(collection.id, former, entered, artwork)
      tellSuccess(words.saved(entered.name))
    }
    cache.invalidateAll('collection')
    onClose()
  }, draftOf(`${collection?.id}`))
  return (
    <Dialog
      title={collection === undefined ? general.new : general.edit} isOpen onClose={onClose}
      foot={(
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type='submit' form='collection' kind='primary' isBusy={isBusy}>{collection === undefined ? words.create : words.save}</Button>
        </>
      )}
    >
      <form id='collection' class='stack' onSubmit={onSubmit}>
        {failure !== null && failure.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        <TextField label={words.name} autofocus required maxLength={400} value={values.name} error={errorOf('name')} onInput={(name) => { set('name', name) }} />
        <TextArea
          label={words.description} rows={3} value={values.description} error={errorOf('description')}
          onInput={(description) => { set('description', description) }}
        />
        <Field label={words.cover} hint={words.coverHint}>
          {(control) => (
            <div class='collection-file'>
              {preview !== null && <img src={preview} alt='' />}
              <input
                {...control} class='input' type='file' accept='image/png,image/jpeg,image/webp,image/gif'
                onChange={({ currentTarget }) => { setFile(currentTarget.files?.[0] ?? null) }}
              />
            </div>
          )}
        </Field>
        {collection?.path_cover_large != null && file === null && (
          <Check label={words.removeCover} isChecked={values.removesCover} onChange={(removes) => { set('removesCover', removes) }} />
        )}
        <Check label={words.public} isChecked={values.isPublic} onChange={(isPublic) => { set('isPublic', isPublic) }} />
      </form>
    </Dialog>
  )
}
