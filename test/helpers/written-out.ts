// The OpenAPI document with every shared response, header, parameter and example written out where it is used.

export function writeOut<Value>(document: Value & { components: object }): Value {
  const components = document.components as Record<string, Record<string, unknown>>;
  const write = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(write);
    const reference = '$ref' in value ? String(value.$ref) : '';
    const [, kind, name] =
      /^#\/components\/(headers|examples|parameters|responses)\/(.+)$/.exec(reference) ?? [];
    if (kind) return write(components[kind]![name!]);
    return Object.fromEntries(Object.entries(value).map(([member, part]) => [member, write(part)]));
  };
  return write(document) as Value;
}
