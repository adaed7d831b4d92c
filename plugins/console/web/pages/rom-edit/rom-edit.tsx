import arrow from 'lucide/dist/esm/icons/arrow-left.mjs'
import { holds } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle, useView } from '../../navigate.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { nameOf } from '../../ui/cover.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Failed, Notice, Skeleton } from '../../ui/state.tsx'
import { Forbidden } from '../errors/errors.tsx'
import { fieldName } from '../rom/metadata.tsx'
import { NoSuchRom, isNoSuchRom } from '../rom/rom.tsx'
import { type DetailedRom, useRom, useSources } from '../rom/rom-data.ts'
import type { RomSources } from '../rom/source-list.ts'
import { CoverField } from './cover-field.tsx'
import { dropDraft } from './drafts.ts'
import { EditConflicts } from './edit-conflicts.tsx'
import { type Field, LIST_FIELDS, isValidDate } from './edit-values.ts'
import { LockMark } from './lock-mark.tsx'
import { type Edit, useEdit } from './use-edit.ts'

interface EditFieldProps {
  edit: Edit
  field: Field
  hint?: string
  error?: string | undefined
  isLong?: boolean
  type?: 'text' | 'url'
}

/** One field with its lock. */
function EditField ({ edit, field, hint, error, isLong = false, type = 'text' }: EditFieldProps) {
  const props = {
    label: fieldName(field),
    value: edit.values[field],
    disabled: edit.unlocked.has(field),
    error: error ?? edit.failure?.fields.find(({ path }) => path.includes(field))?.message,
    onInput: (value: string) => { edit.set(field, value) },
    ...(hint !== undefined && { hint })
  }
  return (
    <div class='edit-field'>
      {isLong ? <TextArea {...props} rows={7} /> : <TextField {...props} type={type} />}
      {edit.locked.has(field) && (
        <LockMark
          label={props.label}
          isUnlocked={edit.unlocked.has(field)}
          onToggle={() => { edit.toggleUnlock(field) }}
        />
      )}
    </div>
  )
}

function Fields ({ rom, edit }: { rom: DetailedRom, edit: Edit }) {
  const { edit: words } = texts().rom
  const { values } = edit
  const renamed = values.fs_name.trim() !== '' && values.fs_name !== rom.fs_name
  return (
    <div class='edit-groups'>
      <fieldset class='rom-card'>
        <legend>{words.texts}</legend>
        <EditField edit={edit} field='name' hint={words.nameHint} />
        <EditField edit={edit} field='name_sort_key' hint={words.sortKeyHint} />
        <EditField edit={edit} field='summary' isLong />
      </fieldset>
      <fieldset class='rom-card'>
        <legend>{words.facts}</legend>
        <p class='field-hint'>{words.factsHint}</p>
        <div class='edit-pairs'>
          {LIST_FIELDS.map((field) => <EditField key={field} edit={edit} field={field} hint={words.listHint} />)}
          <EditField
            edit={edit}
            field='first_release_date'
            hint={words.dateHint}
            error={isValidDate(values.first_release_date) ? undefined : words.invalidDate}
          />
          <EditField edit={edit} field='youtube_video_id' hint={words.youtubeHint} />
        </div>
      </fieldset>
      <fieldset class='rom-card'>
        <legend>{words.file}</legend>
        <EditField
          edit={edit}
          field='fs_name'
          hint={
            renamed
              ? words.renames(`${rom.fs_path}/${rom.fs_name}`, `${rom.fs_path}/${values.fs_name.trim()}`)
              : words.fileNameHint
          }
        />
        <EditField edit={edit} field='url_manual' type='url' hint={words.manualHint} />
      </fieldset>
    </div>
  )
}

function Editor ({ rom, sources }: { rom: DetailedRom, sources: RomSources }) {
  const { edit: words } = texts().rom
  const { go } = useView()
  const edit = useEdit(rom, sources, () => { go(`roms/${rom.id}`) })
  const isValid = isValidDate(edit.values.first_release_date)
  return (
    <form
      class='edit'
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) void edit.submit()
      }}
    >
      <EditConflicts edit={edit} />
      {edit.isDraft && (
        <Notice>
          {words.draft}
          {' '}
          <Button kind='quiet' isSmall onClick={() => { edit.discard() }}>{words.discard}</Button>
        </Notice>
      )}
      {edit.hasTaken && edit.conflicts.length === 0 && <Notice>{words.changed.updated}</Notice>}
      {edit.failure !== null && <Notice kind='failure'>{edit.failure.message}</Notice>}
      <div class='edit-columns'>
        <CoverField
          rom={rom}
          cover={edit.cover}
          isLocked={sources.locked.includes('url_cover')}
          onChoose={(cover) => { edit.setCover(cover) }}
        />
        <Fields rom={rom} edit={edit} />
      </div>
      <div class='edit-foot'>
        <span class='faint'>
          {edit.conflicts.length > 0 ? words.changed.decide : edit.isChanged ? '' : words.nothing}
        </span>
        <LinkButton href={`roms/${rom.id}`} onClick={() => { dropDraft(rom.id) }}>{texts().common.cancel}</LinkButton>
        <Button
          kind='primary'
          type='submit'
          isBusy={edit.isBusy}
          disabled={!edit.isChanged || !isValid || edit.conflicts.length > 0}
        >
          {words.save}
        </Button>
      </div>
    </form>
  )
}

/** Edits the texts, facts, cover and file name of a game. */
export default function RomEdit ({ id }: { id: string }) {
  const { edit: words } = texts().rom
  const { data: { value: rom }, failure: { value: failure } } = useRom(id)
  const { data: { value: sources } } = useSources(Number(id))
  useTitle(rom === undefined ? undefined : words.title(nameOf(rom)))
  if (!holds('roms.write')) return <Forbidden />
  if (isNoSuchRom(failure)) return <NoSuchRom />
  if (failure !== null && rom === undefined) return <Failed failure={failure} />
  return (
    <div class='rom-form'>
      <div class='page-head'>
        <h1>{rom === undefined ? <Skeleton width='16rem' /> : words.title(nameOf(rom))}</h1>
        <LinkButton kind='quiet' icon={arrow} href={`roms/${id}`}>{words.back}</LinkButton>
      </div>
      {rom === undefined || sources === undefined
        ? <Skeleton height='36rem' />
        : <Editor key={rom.id} rom={rom} sources={sources} />}
    </div>
  )
}
