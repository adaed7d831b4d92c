import bandage from 'lucide/dist/esm/icons/bandage.mjs'
import ellipsis from 'lucide/dist/esm/icons/ellipsis.mjs'
import eye from 'lucide/dist/esm/icons/eye.mjs'
import eyeOff from 'lucide/dist/esm/icons/eye-off.mjs'
import link from 'lucide/dist/esm/icons/link.mjs'
import pencil from 'lucide/dist/esm/icons/pencil.mjs'
import refresh from 'lucide/dist/esm/icons/refresh-cw.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import send from 'lucide/dist/esm/icons/send.mjs'
import trashIcon from 'lucide/dist/esm/icons/trash.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { accountOf, holds, isGuest, session } from '../../api/session.ts'
import { addressOf } from '../../base.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { nameOf } from '../../ui/cover.tsx'
import { type MenuEntry, Menu } from '../../ui/menu.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { trash } from '../library/actions/operations.ts'
import { storeMarks } from './marks.tsx'
import { PatchDialog } from './patch.tsx'
import { downloadOf } from './download-address.ts'
import type { DetailedRom } from './rom-data.ts'
import { SendDialog } from './send.tsx'

/** Asks before a game goes to the trash. */
function TrashDialog ({ rom, isOpen, onClose }: { rom: DetailedRom, isOpen: boolean, onClose: () => void }) {
  const { trash: words } = texts().rom
  const { go } = useView()
  const name = nameOf(rom)
  const moveToTrash = async () => {
    const { failed: [problem] } = await trash([rom.id], () => {})
    if (problem !== undefined) throw new Error(problem.reason)
    go(`platforms/${rom.platform_slug}`)
  }
  return (
    <Confirm
      title={words.title(name)}
      text={words.text}
      action={words.confirm}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={moveToTrash}
    />
  )
}

type Open = 'send' | 'patch' | 'trash' | null

const canSend = () =>
  session.value.state === 'signed-in' && session.value.heartbeat.DEVICE_INSTALL.ENABLED && holds('devices.write')

/** Returns the entries of the menu that the account may use. */
function listEntries (
  rom: DetailedRom,
  { go, open }: { go: (path: string) => void, open: (dialog: Open) => void }
): MenuEntry[] {
  const { rom: { actions } } = texts()
  const account = accountOf()
  const { hidden } = rom.rom_user
  const tell = (work: Promise<unknown>, done: string, undo?: () => Promise<void>) => {
    work
      .then(() => {
        tellSuccess(
          done,
          undo && {
            label: actions.undo,
            run: () => { undo().catch(tellFailure) }
          }
        )
      })
      .catch(tellFailure)
  }
  const copyLink = () => {
    tell(navigator.clipboard.writeText(new URL(addressOf(downloadOf(rom)), location.href).href), actions.linkCopied)
  }
  const rescan = () => {
    tell(call(api.POST('/api/tasks/scan', { body: { roms_ids: [rom.id], type: 'update' } })), actions.rescanned)
  }
  const hide = () => {
    tell(storeMarks(rom.id, { hidden: true }), actions.hidden, () => storeMarks(rom.id, { hidden: false }))
  }
  const unhide = () => {
    storeMarks(rom.id, { hidden: false }).catch(tellFailure)
  }
  const entries: (MenuEntry | false)[] = [
    holds('roms.write') && {
      id: 'edit',
      label: actions.edit,
      icon: pencil,
      onSelect: () => { go(`roms/${rom.id}/edit`) }
    },
    holds('roms.write') && {
      id: 'match',
      label: actions.match,
      icon: search,
      onSelect: () => { go(`roms/${rom.id}/match`) }
    },
    holds('tasks.run') && { id: 'rescan', label: actions.rescan, icon: refresh, onSelect: rescan },
    canSend() && {
      id: 'send',
      label: actions.send,
      icon: send,
      onSelect: () => { open('send') }
    },
    rom.files.length > 0 && {
      id: 'patch',
      label: actions.patch,
      icon: bandage,
      onSelect: () => { open('patch') }
    },
    window.isSecureContext && { id: 'link', label: actions.copyLink, icon: link, onSelect: copyLink },
    account !== null &&
      !isGuest(account) &&
      holds('roms.user.write') &&
      (hidden
        ? { id: 'hide', label: actions.unhide, icon: eye, onSelect: unhide }
        : { id: 'hide', label: actions.hide, icon: eyeOff, onSelect: hide }),
    holds('roms.write') && null,
    holds('roms.write') && {
      id: 'delete',
      label: actions.delete,
      icon: trashIcon,
      isDanger: true,
      onSelect: () => { open('trash') }
    }
  ]
  return entries.filter((entry) => entry !== false)
}

/** Everything else that can be done with a game. */
export function RomMenu ({ rom }: { rom: DetailedRom }) {
  const { go } = useView()
  const [dialog, setDialog] = useState<Open>(null)
  const close = () => { setDialog(null) }
  const entries = listEntries(rom, { go, open: setDialog })
  if (entries.length === 0) return null
  return (
    <>
      <Menu entries={entries}>
        {(trigger) => <IconButton {...trigger} icon={ellipsis} label={texts().rom.actions.more} />}
      </Menu>
      <SendDialog rom={rom} isOpen={dialog === 'send'} onClose={close} />
      <PatchDialog rom={rom} isOpen={dialog === 'patch'} onClose={close} />
      <TrashDialog rom={rom} isOpen={dialog === 'trash'} onClose={close} />
    </>
  )
}
