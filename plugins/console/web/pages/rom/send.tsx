import monitor from 'lucide/dist/esm/icons/monitor-smartphone.mjs'
import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { onEvent } from '../../api/socket.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Badge, Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { nameOfDevice, useDevices } from './devices.ts'
import type { DetailedRom } from './rom-data.ts'

type Device = components['schemas']['Device']
type InstallRequest = components['schemas']['InstallRequest']

const KINDS = {
  pending: 'accent',
  taken: 'accent',
  done: 'success',
  already_installed: 'success',
  failed: 'danger',
  cancelled: undefined
} as const
const LIVE: readonly string[] = ['pending', 'taken']

const installsKeyOf = (romId: number) => `installs ${romId}`

/** Shows a request as an event or a response describes it, unless the page already knows a newer state. */
function showInstall (request: InstallRequest): void {
  cache.set<InstallRequest[]>(installsKeyOf(request.rom_id), (all = []) => {
    const known = all.find(({ id }) => id === request.id)
    if (known !== undefined && known.updated_at > request.updated_at) return all
    return [...all.filter(({ id }) => id !== request.id), request]
  })
}

/** The requests that are on their way, and those that ended while somebody looks, which the server no longer lists. */
function useInstalls (romId: number) {
  useEffect(() => onEvent('install:updated', (request) => { if (request.rom_id === romId) showInstall(request) }), [romId])
  return useResource(installsKeyOf(romId),
    (signal) => call(api.GET('/api/roms/{id}/installs', { params: { path: { id: romId } }, signal })))
}
const useOnline = () =>
  useResource('devices online', (signal) => call(api.GET('/api/devices/online', { signal })), {
    'install:updated': true
  })

/** One device, with the progress of the game on its way there. */
function DeviceRow ({
  device,
  request,
  isOnline,
  romId
}: {
  device: Device
  request: InstallRequest | undefined
  isOnline: boolean
  romId: number
}) {
  const { send: words } = texts().rom
  const [isBusy, setBusy] = useState(false)
  const name = nameOfDevice(device)
  const run = (work: Promise<InstallRequest>) => {
    setBusy(true)
    work
      .then(showInstall)
      .catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  const start = () => {
    run(
      call(
        api.POST('/api/devices/{device_id}/installs', {
          params: { path: { device_id: device.device_id } },
          body: { rom_id: romId }
        })
      )
    )
  }
  const cancel = (id: string) => () => {
    run(
      call(
        api.DELETE('/api/devices/{device_id}/installs/{request_id}', {
          params: { path: { device_id: device.device_id, request_id: id } }
        })
      )
    )
  }
  const seen = device.last_seen === null ? words.never : words.offline(format().ago(device.last_seen))
  return (
    <li class='rom-row'>
      <div class='rom-row-text'>
        <strong>{name}</strong>
        <span class='faint'>{isOnline ? words.online : seen}</span>
      </div>
      {request !== undefined && (
        <span role='status'>
          <Badge kind={KINDS[request.status]}>
            {words.statuses[request.status]}
            {request.status === 'taken' && request.percent !== null && ` ${format().percent(request.percent / 100)}`}
          </Badge>
        </span>
      )}
      {request?.status === 'taken' && request.percent !== null && (
        <progress class='rom-row-wide' max={100} value={request.percent} aria-label={words.progressOf(name)} />
      )}
      {request !== undefined && LIVE.includes(request.status)
        ? (
          <Button isSmall isBusy={isBusy} aria-label={words.cancelLabel(name)} onClick={cancel(request.id)}>
            {words.cancel}
          </Button>
          )
        : <Button isSmall isBusy={isBusy} aria-label={words.sendLabel(name)} onClick={start}>{words.send}</Button>}
      {request?.reason != null && request.reason !== '' && <p class='faint rom-row-wide'>{request.reason}</p>}
    </li>
  )
}

function Devices ({ romId }: { romId: number }) {
  const { send: words } = texts().rom
  const devices = useDevices()
  const { data: { value: requests = [] } } = useInstalls(romId)
  const { data: { value: online = [] } } = useOnline()
  return (
    <Loaded resource={devices} skeleton={<Skeleton height='8rem' />}>
      {(all) => {
        const able = all.filter(({ capabilities }) => capabilities?.remote_install === true)
        if (able.length === 0) return <Empty icon={monitor} title={words.none.title} text={words.none.text} />
        return (
          <ul class='rom-rows'>
            {able.map((device) => (
              <DeviceRow
                key={device.device_id}
                device={device}
                romId={romId}
                isOnline={online.includes(device.device_id)}
                request={requests.findLast(({ device_id: id }) => id === device.device_id || id === device.number)}
              />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

/** Sends a game to devices, and shows how far they are. */
export const SendDialog = ({ rom, isOpen, onClose }: { rom: DetailedRom, isOpen: boolean, onClose: () => void }) => (
  <Dialog title={texts().rom.send.title} isOpen={isOpen} onClose={onClose}><Devices romId={rom.id} /></Dialog>
)
