// Words that offices and their programs write for a choice, by the path of its field and its value. A word that fits two
// resources stands under both values: each resource has only one of them.

type Words = Readonly<Record<string, readonly string[]>>;

const words: Readonly<Record<string, Words>> = {
  status: {
    ACTIVE: [
      ...[
        'laufend',
        'läuft',
        'bestand',
        'bestandskunde',
        'stammkunde',
        'freigegeben',
        'gültig',
        'ja',
        'j',
        'x',
        '1',
        'wahr',
        'true',
      ],
      ...['ungekündigt', 'kunde', 'aktiver kunde', 'in betrieb', 'current', 'running', 'yes', 'a'],
    ],
    INACTIVE: [
      ...['gesperrt', 'sperre', 'ehemalig', 'ehemaliger kunde', 'altkunde', 'archiviert', 'ruhend', 'ruht'],
      ...[
        'stillgelegt',
        'gelöscht',
        'nein',
        'n',
        '0',
        'falsch',
        'false',
        'blocked',
        'locked',
        'former',
        'archived',
        'no',
        'i',
      ],
    ],
    HEALTHY: [
      'gut',
      'sehr gut',
      'ok',
      'okay',
      'i. o.',
      'in ordnung',
      'vital',
      'prima',
      'kräftig',
      'good',
      'fine',
    ],
    NEEDS_ATTENTION: [
      ...['mittel', 'mäßig', 'schwach', 'krank', 'gelbe blätter', 'braune spitzen', 'welk', 'blattfall'],
      ...['beobachten', 'schädlinge', 'schädlingsbefall', 'läuse', 'pflegebedürftig', 'fair', 'weak', 'sick'],
    ],
    CRITICAL: ['schlecht', 'sehr schlecht', 'absterbend', 'stark geschädigt', 'austauschen', 'poor', 'bad'],
    REPLACED: ['ausgetauscht', 'getauscht', 'erneuert', 'exchanged'],
    REMOVED: ['abgeholt', 'weg', 'entsorgt', 'abgebaut', 'disposed'],
    DRAFT: ['angebot', 'in vorbereitung', 'geplant', 'vorschlag', 'offer', 'planned'],
    TERMINATED: ['kündigung', 'in kündigung', 'gekündigt zum ende', 'cancelled', 'canceled'],
    EXPIRED: ['beendet', 'ausgelaufen', 'ended'],
  },
  salutation: {
    MR: ['herrn', 'hr', 'hr.', 'm', 'männlich', 'mr', 'mr.', 'male'],
    MRS: ['fr', 'fr.', 'w', 'weiblich', 'mrs', 'mrs.', 'ms', 'ms.', 'f', 'female', 'fräulein'],
    DIVERSE: ['d', 'x', 'diverse'],
    NONE: [
      'firma',
      'fa.',
      'familie',
      'fam.',
      'eheleute',
      'damen und herren',
      'ohne',
      'company',
      'none',
      'family',
    ],
  },
  language: {
    de: ['d', 'ger', 'deu', 'de-de', 'german'],
    en: ['e', 'eng', 'en-gb', 'en-us', 'english'],
  },
  type: {
    CARE: [
      'pflegevertrag',
      'wartung',
      'wartungsvertrag',
      'service',
      'servicevertrag',
      'nur pflege',
      'maintenance',
    ],
    RENTAL: ['mietvertrag', 'vermietung', 'mietpflanzen', 'leasing', 'nur miete', 'rent', 'lease'],
    CARE_AND_RENTAL: [
      ...[
        'miete und pflege',
        'pflege + miete',
        'miete + pflege',
        'pflege/miete',
        'miete/pflege',
        'pflege & miete',
      ],
      ...[
        'miete & pflege',
        'mietpflege',
        'miete mit pflege',
        'miete inkl. pflege',
        'miete inklusive pflege',
        'miete incl. pflege',
        'vollservice',
        'rental and care',
        'full service',
      ],
    ],
    ONE_OFF: ['einmal', 'einzelauftrag', 'kauf', 'verkauf', 'einmalauftrag', 'one-off', 'once'],
  },
  billingInterval: {
    MONTHLY: [
      'mtl',
      'mtl.',
      'monatl.',
      'monat',
      'pro monat',
      'monatlich im voraus',
      'mtl. im voraus',
      'je monat',
      '1x im monat',
      'month',
      'per month',
    ],
    QUARTERLY: [
      ...[
        'quartalsweise',
        'quartalsweise im voraus',
        'vierteljährlich im voraus',
        'quartal',
        'pro quartal',
        'je quartal',
        'vierteljährl.',
        '1/4-jährlich',
        '1/4 jährlich',
      ],
      ...['alle 3 monate', 'dreimonatlich', 'quarter', 'per quarter'],
    ],
    YEARLY: [
      'jährl.',
      'jahr',
      'pro jahr',
      'jährlich im voraus',
      'p. a.',
      'p.a.',
      'einmal jährlich',
      '1x im jahr',
      'annual',
      'annually',
    ],
    PER_VISIT: [
      'pro besuch',
      'je einsatz',
      'pro einsatz',
      'nach aufwand',
      'nach besuch',
      'per visit',
      'visit',
    ],
  },
  ownership: {
    CUSTOMER: [
      'kundeneigentum',
      'eigentum kunde',
      'eigentum',
      'gekauft',
      'kauf',
      'verkauft',
      'eigen',
      'bought',
      'own',
    ],
    RENTED: [
      'miete',
      'mietpflanze',
      'mietware',
      'vermietet',
      'leihe',
      'leihweise',
      'leasing',
      'rent',
      'rental',
    ],
  },
  cultureSystem: {
    SOIL: ['erdkultur', 'topferde', 'blumenerde', 'erdpflanze', 'in erde'],
    HYDROCULTURE: ['hydro', 'hydrokulturen', 'blähton', 'in hydro', 'hydroponic', 'hydroponics'],
    SELF_WATERING: [
      ...[
        'bewässerung',
        'erdbewässerung',
        'wasserspeicher',
        'bewässerungseinsatz',
        'lechuza',
        'langzeitbewässerung',
      ],
      ...['automatische bewässerung', 'self-watering', 'sub-irrigation'],
    ],
    SUBSTRATE: [
      'granulat',
      'tongranulat',
      'seramis',
      'vulkaponic',
      'mineralsubstrat',
      'vulcaponic',
      'granules',
    ],
    OTHER: ['sonstige', 'sonst.', 'andere', 'anderes', 'kunstpflanze', 'misc'],
  },
  material: {
    PLASTIC: ['plastik', 'pvc', 'pe', 'pp', 'abs', 'polyethylen', 'polypropylen'],
    CERAMIC: [
      'ton',
      'terrakotta',
      'terracotta',
      'steinzeug',
      'steingut',
      'porzellan',
      'lehm',
      'clay',
      'stoneware',
    ],
    METAL: [
      'edelstahl',
      'stahl',
      'cortenstahl',
      'zink',
      'alu',
      'aluminium',
      'blech',
      'eisen',
      'kupfer',
      'messing',
      'steel',
      'zinc',
    ],
    WOOD: ['eiche', 'teak', 'lärche', 'rattan', 'weide', 'bambus', 'wooden'],
    FIBREGLASS: ['gfk', 'glasfaser', 'fibreglas', 'fiberglass', 'grp'],
    STONE: [
      'beton',
      'betonguss',
      'granit',
      'marmor',
      'naturstein',
      'kunststein',
      'sandstein',
      'terrazzo',
      'concrete',
      'granite',
    ],
  },
  kind: {
    PLANT: ['pflanzen', 'grünpflanze', 'grünpflanzen', 'zimmerpflanze', 'zimmerpflanzen', 'plants'],
    CONTAINER: [
      'gefäße',
      'topf',
      'töpfe',
      'kübel',
      'pflanzgefäß',
      'pflanzgefäße',
      'übertopf',
      'pot',
      'pots',
      'planter',
    ],
    SUBSTRATE: ['substrate', 'erde', 'erden', 'granulat', 'blähton', 'soil'],
    FERTILIZER: ['düngemittel', 'flüssigdünger', 'dünger & pflanzenschutz', 'fertiliser'],
    ACCESSORY: ['zubehörteile', 'werkzeug', 'technik', 'accessories', 'tools'],
    SERVICE: [
      'dienstleistungen',
      'service',
      'leistung',
      'leistungen',
      'pflege',
      'lohn',
      'arbeitszeit',
      'fahrt',
      'anfahrt',
    ],
  },
  unitCode: {
    H87: ['stück', 'stk', 'stk.', 'st', 'st.', 'pce', 'pcs', 'piece', 'pieces'],
    KGM: ['kg', 'kilogramm', 'kilo'],
    LTR: ['l', 'liter', 'ltr', 'ltr.', 'litre', 'liter(s)'],
    MTR: ['m', 'meter', 'lfm', 'lfdm'],
    MTK: ['m²', 'm2', 'qm', 'quadratmeter'],
    HUR: ['std', 'std.', 'stunde', 'stunden', 'h', 'hour', 'hours'],
    MON: ['monat', 'monate', 'month', 'mon'],
  },
  currency: {
    EUR: ['€', 'euro', 'euros'],
    CHF: ['sfr', 'sfr.', 'fr.', 'franken'],
    USD: ['$', 'us$', 'dollar'],
  },
};

const byPath = new Map<string, Map<string, string[]>>();

/** The value of a word; undefined for a word that nobody has listed. */
export function findChoiceWord(path: string, values: readonly string[] | undefined, word: string) {
  const meanings = byPath.get(path) ?? readWords(path);
  const found = meanings.get(foldWord(word)) ?? [];
  return values ? found.find((value) => values.includes(value)) : found[0];
}

function readWords(path: string): Map<string, string[]> {
  const meanings = new Map<string, string[]>();
  for (const [value, forms] of Object.entries(words[path] ?? {}))
    for (const form of forms.map(foldWord)) meanings.set(form, [...(meanings.get(form) ?? []), value]);
  byPath.set(path, meanings);
  return meanings;
}

/** "I.O." and "i. o." are the same word. */
function foldWord(word: string): string {
  return word.toLowerCase().replace(/[\s.]+/g, '');
}
