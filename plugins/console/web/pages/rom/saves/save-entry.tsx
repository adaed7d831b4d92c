import download from 'lucide/dist/esm/icons/download.mjs'
import history from 'lucide/dist/esm/icons/rotate-ccw-clock.mjs'
import trash from 'lucide/dist/esm/icons/trash.mjs'
import { useState } from 'preact/hooks'
import { cache, useResource } from '../../../api/resource.ts'
import { holds } from '../../../api/session.ts'
import { format, texts } from '../../../i18n/language.ts'
import { Button, IconButton, LinkButton } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Badge, Loaded, Skeleton } from '../../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../../ui/toast.tsx'
import {
  addressOfPath,
  type Version,
  deleteAsset,
  listVersions,
  restoreContent,
  restoreVersion,
  undeleteAsset
} from './asset-calls.ts'
import { Thumbnail } from './thumbnail.tsx'
import type { Asset } from './timeline.ts'

const versionsKeyOf = ({ kind, id }: Asset) => `versions ${kind} ${id}`

const Download = ({ path, label }: { path: string, label: string }) => (
  <LinkButton kind='quiet' target='_top' href={addressOfPath(path)} aria-label={label} title={label}>
    <Icon node={download} />
  </LinkButton>
)

interface EntryProps {
  asset: Asset
  /** Returns the name of a device; null for an unknown one. */
  deviceOf: (id: string | null) => string | null
  /** Ends after the list has loaded again. */
  onChange: () => Promise<void>
}

/** The former contents of a save, each with its restore and download. */
function Versions ({ asset, deviceOf, onChange }: EntryProps) {
  const { actions, saves: words } = texts().rom
  const { dateTime, bytes } = format()
  const versions = useResource(versionsKeyOf(asset), (signal) => listVersions(asset, signal))
  const [busy, setBusy] = useState<number | null>(null)
  const fromDevice = (id: string | null) => {
    const device = deviceOf(id)
    return device === null ? '' : words.fromDevice(device)
  }
  const reload = async () => {
    await Promise.all([cache.reload(versionsKeyOf(asset)), onChange()])
  }
  const restore = ({ id }: Version) => {
    setBusy(id)
    const undo = () => {
      restoreContent(asset, asset.sha1).then(reload).catch(tellFailure)
    }
    restoreVersion(asset, id)
      .then(() => {
        tellSuccess(words.restored(asset.file_name), { label: actions.undo, run: undo })
        return reload()
      })
      .catch(tellFailure)
      .finally(() => { setBusy(null) })
  }
  return (
    <Loaded resource={versions} skeleton={<Skeleton height='3rem' />}>
      {(list) =>
        list.length === 0
          ? <p class='faint save-versions'>{words.noOlder}</p>
          : (
            <ul class='save-versions'>
              {list.map((version) => (
                <li key={version.id} class='rom-row'>
                  <span class='rom-row-text'>
                    <span>{dateTime(version.content_updated_at)}</span>
                    <span class='faint number'>
                      {[bytes(version.file_size_bytes), fromDevice(version.content_device_id)].filter(Boolean).join(' · ')}
                    </span>
                  </span>
                  {holds('assets.write') && (
                    <Button
                      isSmall
                      isBusy={busy === version.id}
                      aria-label={words.restoreLabel(asset.file_name, dateTime(version.content_updated_at))}
                      onClick={() => { restore(version) }}
                    >
                      {words.restore}
                    </Button>
                  )}
                  <Download
                    path={version.download_path}
                    label={words.downloadOf(asset.file_name, dateTime(version.content_updated_at))}
                  />
                </li>
              ))}
            </ul>
            )}
    </Loaded>
  )
}

/** The badges and facts of a save below its name. */
function Facts ({ asset, deviceOf }: Pick<EntryProps, 'asset' | 'deviceOf'>) {
  const device = deviceOf(asset.device)
  const { saves: words } = texts().rom
  const { time, bytes } = format()
  const facts = [
    time(asset.updated_at),
    bytes(asset.file_size_bytes),
    asset.emulator ?? '',
    asset.slot === null ? '' : words.slot(asset.slot),
    device === null ? '' : words.fromDevice(device)
  ]
  return (
    <>
      <span class='faint number'>{facts.filter(Boolean).join(' · ')}</span>
      {(asset.isDeleted || asset.is_public || asset.missing_from_fs) && (
        <span class='cluster'>
          {asset.isDeleted && <Badge kind='danger'>{words.deleted}</Badge>}
          {asset.is_public && <Badge>{words.public}</Badge>}
          {asset.missing_from_fs && <Badge kind='warning'>{words.missing}</Badge>}
        </span>
      )}
    </>
  )
}

/** One save or state on the timeline. */
export function SaveEntry ({ asset, deviceOf, onChange }: EntryProps) {
  const { actions, saves: words } = texts().rom
  const [isOpen, setOpen] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const { file_name: name, isDeleted } = asset
  const run = (work: Promise<void>, done: string, undo: () => Promise<void>) => {
    setBusy(true)
    work
      .then(() => {
        tellSuccess(done, {
          label: actions.undo,
          run: () => { undo().then(onChange).catch(tellFailure) }
        })
        return onChange()
      })
      .catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  const remove = () => {
    run(deleteAsset(asset), words.deletedNow(name), () => undeleteAsset(asset))
  }
  const bringBack = () => {
    run(undeleteAsset(asset), words.undeleted(name), () => deleteAsset(asset))
  }
  return (
    <li class='save' data-deleted={isDeleted ? '' : undefined}>
      <div class='save-line'>
        <Thumbnail picture={asset.picture} />
        <div class='rom-row-text'>
          <strong>{name}</strong>
          <Facts asset={asset} deviceOf={deviceOf} />
        </div>
        <Badge>{words.kinds[asset.kind]}</Badge>
        <span class='save-tools'>
          {!isDeleted && (
            <IconButton
              icon={history}
              aria-expanded={isOpen}
              label={words.versionsOf(name)}
              onClick={() => { setOpen(!isOpen) }}
            />
          )}
          {!asset.missing_from_fs && <Download path={asset.download_path} label={words.download(name)} />}
          {holds('assets.write') &&
            (isDeleted
              ? (
                <Button isSmall isBusy={isBusy} aria-label={words.undeleteLabel(name)} onClick={bringBack}>
                  {words.undelete}
                </Button>
                )
              : <IconButton icon={trash} isBusy={isBusy} label={words.delete(name)} onClick={remove} />)}
        </span>
      </div>
      {isOpen && <Versions asset={asset} deviceOf={deviceOf} onChange={onChange} />}
    </li>
  )
}
