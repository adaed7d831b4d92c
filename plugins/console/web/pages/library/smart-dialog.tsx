import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Entered, type SmartCollection, asForm, findChanges } from '../../api/collections.ts'
import { cache, useResource } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Check, TextArea, TextField } from '../../ui/field.tsx'
import { createFormDrafts } from '../../ui/form-drafts.ts'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { tellSuccess } from '../../ui/toast.tsx'
import { FilterPanel } from './filter-panel.tsx'
import { LIST_EVENTS, NO_EXTRAS } from './game-pages.ts'
import { ALL_GAMES, type ListView, readCriteria, toListQuery } from './list-query.ts'
import { OrderTools } from './list-tools.tsx'

/** The number of ROMs that fit at present, which follows the filters and the library. */
function LiveCount ({ view }: { view: ListView }) {
  const { collections: { builder } } = texts()
  const query = toListQuery(view)
  const { data: { value } } = useResource(`list count ${JSON.stringify(query)}`, async (signal) => (await call(api.GET('/api/roms', {
    params: { query: { ...query, ...NO_EXTRAS, limit: 1, with_total: true } }, signal
  }))).total ?? 0, LIST_EVENTS)
  return <strong class='number' role='status'>{value === undefined ? builder.counting : builder.count(value)}</strong>
}

interface EnteredSmart extends Entered { view: ListView }
const draftOf = createFormDrafts<EnteredSmart>('smart collection')

const criteriaOf = (view: ListView) => JSON.stringify(toListQuery(view))

async function storeChanges (id: number, former: EnteredSmart, entered: EnteredSmart): Promise<void> {
  const changes = findChanges(former, entered)
  const criteria = criteriaOf(entered.view)
  const body = { ...changes.body, ...(criteria === criteriaOf(former.view) ? {} : { filter_criteria: criteria }) }
  await call(api.PUT('/api/collections/smart/{id}', { params: { path: { id }, query: changes.query }, body, ...asForm }))
}

interface SmartDialogProps {
  /** The collection that is changed; absent for a new one. */
  collection?: SmartCollection | undefined
  /** The filters to begin with. */
  view?: ListView
  onClose: () => void
}

/** Creates or changes a smart collection by its filters. */
export function SmartDialog ({ collection, view: initial, onClose }: SmartDialogProps) {
  const { common, collections: { form: words, builder } } = texts()
  const { go } = useView()
  const [former] = useState(() => ({
    name: collection?.name ?? '',
    description: collection?.description ?? '',
    isPublic: collection?.is_public ?? false,
    view: collection === undefined ? ALL_GAMES : readCriteria(collection.filter_criteria)
  }))
  const given = { ...former, view: initial ?? former.view }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(given, async (entered) => {
    const { name, description, isPublic, view } = entered
    if (collection === undefined) {
      const body = { name: name.trim(), description, filter_criteria: criteriaOf(view) }
      const { id } = await call(api.POST('/api/collections/smart', { params: { query: { is_public: isPublic } }, body, ...asForm }))
      go(`collections/smart/${id}`)
      tellSuccess(words.created(name))
    } else {
      await storeChanges(collection.id, former, entered)
      tellSuccess(words.saved(name))
    }
    cache.invalidateAll('smart-collection')
    cache.invalidateAll('list ')
    onClose()
  }, draftOf(`${collection?.id}`))
  const { view } = values
  const setView = (chosen: ListView) => { set('view', chosen) }
  return (
    <Dialog
      title={collection === undefined ? builder.title : builder.edit} isOpen onClose={onClose} isLarge
      foot={(
        <>
          <span class='smart-count'><LiveCount view={view} /></span>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type='submit' form='smart' kind='primary' isBusy={isBusy}>{collection === undefined ? words.create : words.save}</Button>
        </>
      )}
    >
      <form id='smart' class='smart' onSubmit={onSubmit}>
        <div class='stack'>
          <p class='soft'>{builder.text}</p>
          {failure !== null && failure.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
          <TextField label={words.name} autofocus required maxLength={400} value={values.name} error={errorOf('name')} onInput={(name) => { set('name', name) }} />
          <TextArea
            label={words.description} rows={3} value={values.description} error={errorOf('description')}
            onInput={(description) => { set('description', description) }}
          />
          <Check label={words.public} isChecked={values.isPublic} onChange={(isPublic) => { set('isPublic', isPublic) }} />
          <TextField label={texts().list.search} type='search' value={view.search} onInput={(search) => { setView({ ...view, search }) }} />
          <OrderTools view={view} onChange={setView} />
        </div>
        <FilterPanel view={view} onChange={setView} scope={{}} />
      </form>
    </Dialog>
  )
}
