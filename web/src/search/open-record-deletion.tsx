// Deletes the record that is open, by a command from anywhere.
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type Definition, useDefinitions } from '../api/definitions.ts';
import { recordQuery } from '../api/records.ts';
import { Deletion } from '../records/deletion.tsx';

export function OpenRecordDeletion({ onClose }: { onClose: () => void }) {
  const { pathname } = useLocation();
  const [, , collection, id] = pathname.split('/');
  const definition = useDefinitions().find((candidate) => candidate.collection === collection);
  return definition && id ? <Ask definition={definition} id={id} onClose={onClose} /> : null;
}

function Ask({ definition, id, onClose }: { definition: Definition; id: string; onClose: () => void }) {
  const { data } = useQuery(recordQuery(definition.collection, id));
  return data ? <Deletion definition={definition} entity={data} onClose={onClose} /> : null;
}
