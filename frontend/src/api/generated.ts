/** Written by scripts/api-types from the API's OpenAPI document. Change the types in webapp/, then run scripts/api-types. */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Health: {
            ok: boolean;
            redis: boolean;
            database: boolean;
            worker: boolean;
            version: string;
        };
        Alive: {
            ok: boolean;
            version: string;
        };
        LabOfMine: {
            id: number;
            name: string;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
        };
        /** @description lab: the one that this request is about. labs: all that this session can choose, in the order in which the person joined them. */
        Me: {
            name: string;
            lab: string;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
            scopes: ("metrics" | "read" | "write" | "admin")[];
            labs: components["schemas"]["LabOfMine"][];
        };
        /** @description sign_on: name of the identity provider; null without one. */
        Ways: {
            sign_on: string | null;
        };
        Address: {
            url: string;
        };
        /**
         * @description active: signing in with the password needs a code. codes_left: unused recovery codes. connected: whether the identity provider opens
         *     this account, too; null without a provider.
         */
        Factor: {
            active: boolean;
            codes_left: number;
            connected: boolean | null;
        };
        /** @description Each is good for one sign-in without the app. Shown only in this response. */
        RecoveryCodes: {
            recovery_codes: string[];
        };
        /** @description secret: for an authenticator app. address: the same for a link. code: the same as a QR code, rows of 0 and 1. */
        NewFactor: {
            secret: string;
            address: string;
            code: string[];
        };
        Welcome: {
            lab: string;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
            invited_by: string | null;
            /** Format: date-time */
            expires_at: string;
            you: string | null;
            member: boolean;
            confined: boolean;
        };
        Joined: {
            name: string;
            lab: string;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
        };
        Person: {
            id: number;
            name: string;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
            you: boolean;
            /** Format: date-time */
            joined_at: string;
            signed_in_at: string | null;
        };
        Link: {
            path: string;
            /** Format: date-time */
            expires_at: string;
        };
        InvitationShape: {
            id: number;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
            invited_by: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        Invited: {
            id: number;
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
            invited_by: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            path: string;
        };
        /** @description A large experiment or data set. runs: number of runs of the experiment; 0 for a data set. */
        Large: {
            id: string;
            name: string;
            bytes: number;
            runs: number;
        };
        /** @description What a rule took on one day. until: when it can no longer be undone; frames are there until then. */
        RemovalShape: {
            id: number;
            rule: number | null;
            /** @enum {string} */
            what: "frames" | "runs" | "datasets";
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            until: string;
            count: number;
            bytes: number;
            undone_at: string | null;
            final_at: string | null;
        };
        /**
         * @description It takes what is older than `days`, or the oldest things while all together have more than `bytes`. kept_tags: runs with one of these
         *     stay; null: runs with any tag stay. paused: it takes nothing, since what it took was given back.
         */
        RuleShape: {
            id: number;
            /** @enum {string} */
            what: "frames" | "runs" | "datasets";
            days: number | null;
            bytes: number | null;
            kept_tags: string[] | null;
            paused: boolean;
        };
        /**
         * @description Sizes in bytes. Runs, data sets and versions of experiments count against the limit; deleted ones do not and are removed later.
         *     free: on the server's disk. removals: the newest first.
         */
        StorageShape: {
            limit_bytes: number | null;
            used_bytes: number;
            runs_bytes: number;
            datasets_bytes: number;
            versions_bytes: number;
            deleted_bytes: number;
            free_bytes: number;
            experiments: components["schemas"]["Large"][];
            datasets: components["schemas"]["Large"][];
            rules: components["schemas"]["RuleShape"][];
            removals: components["schemas"]["RemovalShape"][];
        };
        /** @description A run or data set. number: of a run; null for a data set. at: from when its age counts. */
        DueShape: {
            /** Format: uuid */
            id: string;
            name: string;
            number: number | null;
            bytes: number;
            /** Format: date-time */
            at: string;
        };
        /** @description What a rule would take now. first: the oldest ones. kept: as old, but with a tag or note, or in use; 0 for a rule of bytes. */
        RulePreview: {
            count: number;
            bytes: number;
            first: components["schemas"]["DueShape"][];
            kept: number;
        };
        /** @description not_restored: data sets that stay deleted, since others have their names now. */
        Undone: {
            limit_bytes: number | null;
            used_bytes: number;
            runs_bytes: number;
            datasets_bytes: number;
            versions_bytes: number;
            deleted_bytes: number;
            free_bytes: number;
            experiments: components["schemas"]["Large"][];
            datasets: components["schemas"]["Large"][];
            rules: components["schemas"]["RuleShape"][];
            removals: components["schemas"]["RemovalShape"][];
            not_restored: string[];
        };
        LimitsAndUsage: {
            limits: components["schemas"]["LimitsShape"];
            used: components["schemas"]["UsageShape"];
        };
        /** @description running, waiting: runs, those of studies included. stored_bytes: of runs and data sets. requests: in a minute. null: no limit. */
        LimitsShape: {
            running: number | null;
            waiting: number | null;
            stored_bytes: number | null;
            requests: number | null;
        };
        /** @description What the asker has now. requests: so far in this minute; they are counted only while there is a limit. */
        UsageShape: {
            running: number;
            waiting: number;
            stored_bytes: number;
            requests: number;
        };
        Entries: {
            items: components["schemas"]["Entry"][];
            count: number;
        };
        Entry: {
            id: number;
            /** Format: date-time */
            at: string;
            person: string;
            token: string;
            action: string;
            subject: string;
            subject_id: string;
            detail: string;
        };
        TokenShape: {
            id: number;
            name: string;
            person: string;
            yours: boolean;
            /** @enum {string} */
            scope: "metrics" | "read" | "write" | "admin";
            /** @enum {string} */
            state: "active" | "expired" | "revoked";
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
        };
        Issued: {
            id: number;
            name: string;
            person: string;
            yours: boolean;
            /** @enum {string} */
            scope: "metrics" | "read" | "write" | "admin";
            /** @enum {string} */
            state: "active" | "expired" | "revoked";
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
            token: string;
        };
        Catalogue: {
            operators: components["schemas"]["Kind"][];
            streams: components["schemas"]["Kind"][];
            rates: components["schemas"]["Kind"][];
            arrivals: components["schemas"]["Kind"][];
            disorders: components["schemas"]["Kind"][];
            watermarks: components["schemas"]["Kind"][];
            retentions: components["schemas"]["Kind"][];
            generations: components["schemas"]["Kind"][];
            noises: components["schemas"]["Kind"][];
            drifts: components["schemas"]["Kind"][];
            warmups: components["schemas"]["Kind"][];
            partitionings: components["schemas"]["Kind"][];
            processors: components["schemas"]["Kind"][];
            placements: components["schemas"]["Kind"][];
            faults: components["schemas"]["Kind"][];
            occurrences: components["schemas"]["Kind"][];
            engines: components["schemas"]["Kind"][];
            flow_controls: components["schemas"]["Kind"][];
            ingresses: components["schemas"]["Kind"][];
            checkpointings: components["schemas"]["Kind"][];
            snapshots: components["schemas"]["Kind"][];
            scalings: components["schemas"]["Kind"][];
            rescalings: components["schemas"]["Kind"][];
            schedulings: components["schemas"]["Kind"][];
            balancings: components["schemas"]["Kind"][];
            states: components["schemas"]["Kind"][];
            memories: components["schemas"]["Kind"][];
            slow_downs: components["schemas"]["Kind"][];
            prices: components["schemas"]["Kind"][];
            functions: components["schemas"]["Kind"][];
            measurements: components["schemas"]["Kind"][];
            assertion_functions: components["schemas"]["Kind"][];
        };
        Json: Json;
        /**
         * @description An available kind, as palettes, forms and Help show it. schema: JSON Schema of its parameters, without `kind`. fields: of a stream of
         *     fixed shape. rescalable, loss_text: for checkpointing protocols, whether they allow rescaling, and the effect of losing a host.
         *     price_list, compared: for engines, their own, or empty, and whether *Which engine?* compares them with others.
         *     decides_live, relocates: for scaling, whether it decides repeatedly during a run, and whether it changes hosts in place of parallelism.
         *     usual_per_s: of a stream, the rate of a new source. example,
         *     signatures: for functions. unit, type: of a measurement; a name in angle brackets in its `kind` stands for each part of that sort.
         */
        Kind: {
            kind: string;
            title: string;
            family: string;
            group: string;
            icon: string;
            doc: string;
            source: string;
            schema: {
                [key: string]: components["schemas"]["Json"];
            };
            inputs: string[];
            outputs: string[];
            fields?: components["schemas"]["RecordField"][];
            rescalable?: boolean;
            loss_text?: string;
            price_list?: string;
            compared?: boolean;
            decides_live?: boolean;
            relocates?: boolean;
            usual_per_s?: number;
            example?: string;
            unit?: string;
            /** @enum {string} */
            type?: "number" | "series";
            signatures?: components["schemas"]["Signature"][];
        };
        /** @description type: a field type, or "any". constant: the argument must be a literal. */
        Parameter: {
            name: string;
            type: string;
            constant: boolean;
        };
        RecordField: {
            name: string;
            type: string;
        };
        /** @description repeated: the last parameter may be repeated. */
        Signature: {
            text: string;
            parameters: components["schemas"]["Parameter"][];
            repeated: boolean;
            result: string;
        };
        /**
         * @description A problem in a document. pointer: JSON pointer into the document as sent. value: the value found. hint: how to fix it.
         *
         *     missing: the document is incomplete here, not wrong.
         */
        Problem: {
            pointer: string;
            code: string;
            message: string;
            value: components["schemas"]["Json"];
            hint: string;
            /** @enum {string} */
            severity: "error" | "warning";
            /** @default false */
            missing: boolean;
        };
        /** @description Fields of a stream's records, and bytes per record. */
        RecordSchema: {
            fields: components["schemas"]["RecordField"][];
            bytes: number;
        };
        /**
         * @description schemas: record schemas by operator and output port, where known. placement: host names by operator, one per instance in index order.
         *     event_zero: calendar date of event time 0, if sources read data sets.
         */
        Validation: {
            problems: components["schemas"]["Problem"][];
            hash: string | null;
            schemas: {
                [key: string]: components["schemas"]["RecordSchema"];
            };
            placement: {
                [key: string]: string[];
            };
            event_zero: string | null;
        };
        /** @description sources: by source operator, [time in s, records per s] at the middle of each part of the horizon. */
        Preview: {
            sources: {
                [key: string]: number[][];
            };
        };
        /**
         * @description threshold: up to which about as many pairs match as asked for. share: of the sample's pairs that do. pairs: of the sample. sources:
         *     whose first records it has, by input.
         */
        Threshold: {
            threshold: number;
            share: number;
            pairs: number;
            sources: {
                [key: string]: string;
            };
        };
        PythonCodeShape: {
            code: string;
        };
        DocumentShape: {
            document: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        /** @description reason: why there is no advice, empty if there is. */
        AdviceState: {
            available: boolean;
            reason: string;
            models: components["schemas"]["ModelsShape"][];
        };
        /** @description Models of one corpus. traces: of the corpus. members: models of each cost. */
        ModelsShape: {
            name: string;
            corpus: string;
            traces: number;
            members: number;
            goals: ("throughput" | "processing_latency" | "end_to_end_latency")[];
        };
        /**
         * @description reasons: what would change the cost of the best candidate, most first. order: numbers of candidates, from the best on. relaxed:
         *     filters that were dropped because nothing would have been left.
         */
        AdviceShape: {
            models: string;
            /** @enum {string} */
            goal: "throughput" | "processing_latency" | "end_to_end_latency";
            unit: string;
            order: number[];
            relaxed: ("fails" | "falls behind" | "members differ")[];
            cautions: string[];
            outside: components["schemas"]["OutsideShape"][];
            reasons: (components["schemas"]["OtherHostShape"] | components["schemas"]["OtherFeatureShape"])[];
            candidates: components["schemas"]["CandidateShape"][];
        };
        /**
         * @description hosts: by operator id. costs: by metric, the prediction of each member; of success and flows a probability. spread: of the goal.
         *     filtered: the prediction for which it is ranked last. rule: of placements, that it breaks.
         */
        CandidateShape: {
            hosts: {
                [key: string]: string;
            };
            origin: string;
            costs: {
                [key: string]: number[];
            };
            mean: {
                [key: string]: number;
            };
            spread: number;
            votes: components["schemas"]["Votes"];
            members: number;
            filtered: ("fails" | "falls behind" | "members differ") | null;
            rule: (2 | 3) | null;
        };
        /** @description What it would be if a host had more of something, or were nearer. */
        OtherFeatureShape: {
            /** @constant */
            kind: "other_feature";
            host: string;
            /** @enum {string} */
            feature: "cpu_percent" | "ram_mb" | "mbit_per_s" | "latency_ms";
            before: number;
            after: number;
            cost: number;
        };
        /** @description What the goal's cost would be with an operator where it is now. */
        OtherHostShape: {
            /** @constant */
            kind: "other_host";
            operator: string;
            host: string;
            cost: number;
        };
        /** @description A value that training has not seen. least, most: in training; null for a category. */
        OutsideShape: {
            type: string;
            feature: string;
            value: number | string;
            least: number | null;
            most: number | null;
        };
        /** @description Members that predict success, and that the query keeps up. */
        Votes: {
            success: number;
            flows: number;
        };
        /** @description An entry of the list. `runs`: number of runs, without deleted ones. `description`: shortened. `example`: an unmodified example. */
        ExperimentItem: {
            id: string;
            name: string;
            description: string;
            /** Format: date-time */
            updated_at: string;
            runs: number;
            example: boolean;
        };
        /** @description An experiment. saved: who saved its newest version. */
        ExperimentShape: {
            id: string;
            version: number;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            problems: components["schemas"]["Problem"][];
            /** Format: date-time */
            updated_at: string;
            saved: components["schemas"]["SavedShape"];
        };
        /**
         * @description Who saved a version of an experiment, and when. author: empty if it was saved before versions were kept, or shipped with Millrace.
         *     token: name of the token if a program saved it. editor: the open page that saved it.
         */
        SavedShape: {
            number: number;
            author: string;
            token: string;
            editor: string;
            /** Format: date-time */
            saved_at: string;
        };
        ExperimentName: {
            id: string;
            name: string;
        };
        /**
         * @description A side of a comparison and its value. least, most: differ for a series; most is null for a value that was still growing when it was
         *     last observed. unit: empty if unknown.
         */
        MeasuredSide: {
            text: string;
            least: number;
            most: number | null;
            unit: string;
        };
        /**
         * @description A run with its document. `executed`: the document as its engine executes it, with a driver and receivers; null without an engine.
         *     `note`: a remark about its start, for the user.
         */
        RunDetail: {
            id: string;
            number: number;
            experiment: components["schemas"]["ExperimentName"];
            author: string;
            study: string | null;
            parent: string | null;
            fork_at_s: number | null;
            state: components["schemas"]["RunState"];
            seed: number;
            hash: string;
            engine_version: string;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            progress: number;
            t_s: number;
            horizon_s: number;
            eta_s: number | null;
            compiling: boolean;
            cancel_requested: boolean;
            pace: number | null;
            hold_at_frame: number | null;
            paused_at: string | null;
            frames: number;
            summary: {
                [key: string]: components["schemas"]["Json"];
            } | null;
            sparkline: (number | null)[] | null;
            digest: string | null;
            judged: ("holds" | "fails" | "cannot be judged") | null;
            verdicts: components["schemas"]["Verdict"][];
            frames_removed_at: string | null;
            error: string | null;
            tags: string[];
            said: string;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            executed: {
                [key: string]: components["schemas"]["Json"];
            } | null;
            note: string | null;
        };
        /** @enum {string} */
        RunState: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled";
        /** @description An assertion of the run's document and its outcome. reason: why it cannot be judged, or what happened, if that is known. */
        Verdict: {
            name: string;
            check: string;
            note: string;
            /** @enum {string} */
            state: "holds" | "fails" | "cannot be judged";
            measured: components["schemas"]["MeasuredSide"][];
            reason: string;
        };
        /** @description A kept version. began_at to saved_at: its `saves` saves. restored: number of the version that it restored. */
        VersionItem: {
            number: number;
            author: string;
            token: string;
            editor: string;
            /** Format: date-time */
            saved_at: string;
            /** Format: date-time */
            began_at: string;
            saves: number;
            restored: number | null;
            bytes: number;
        };
        VersionPage: {
            items: components["schemas"]["VersionItem"][];
            count: number;
        };
        /**
         * @description problems: of the document as the lab is now: a data set may be gone. before: the document of the version before, null for the
         *     oldest.
         */
        VersionDetail: {
            number: number;
            author: string;
            token: string;
            editor: string;
            /** Format: date-time */
            saved_at: string;
            /** Format: date-time */
            began_at: string;
            saves: number;
            restored: number | null;
            bytes: number;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            problems: components["schemas"]["Problem"][];
            before: {
                [key: string]: components["schemas"]["Json"];
            } | null;
        };
        /** @description A field of runs. name: as in conditions. unit: empty for a plain number and for texts. texts: whether some run has a text there. */
        FieldShape: {
            name: string;
            unit: string;
            texts: boolean;
        };
        /** @description count: number of all groups. runs: number of runs found. */
        GroupPage: {
            by: components["schemas"]["FieldShape"][];
            measures: components["schemas"]["FieldShape"][];
            items: components["schemas"]["GroupShape"][];
            count: number;
            runs: number;
        };
        /**
         * @description Runs with the same values of the fields; null: the runs without a value. search: finds exactly these runs, with the other parts of
         *     the query unchanged. measures: in the order in which they were asked for.
         */
        GroupShape: {
            values: (number | string | null)[];
            runs: number;
            search: string;
            measures: components["schemas"]["MeasuredShape"][];
        };
        /** @description A mean over seeds with Student's 95 % interval. count: number of seeds. */
        MeanOfSeeds: {
            mean: number;
            low: number;
            high: number;
            count: number;
        };
        /** @description A measure over the runs of a group that have it. over_seeds: of runs that differ only in the seed; null for others. */
        MeasuredShape: {
            count: number;
            median: number | null;
            min: number | null;
            max: number | null;
            over_seeds: components["schemas"]["MeanOfSeeds"] | null;
        };
        /**
         * @description Runs, newest first: `ids`, `numbers`, and a column of values for each field; null where a run has none. count: number of all runs
         *     found.
         */
        PointsShape: {
            fields: components["schemas"]["FieldShape"][];
            ids: string[];
            numbers: number[];
            columns: (number | string | null)[][];
            count: number;
        };
        /** @description values: a column for each further field that was asked for, in the order of the items; null where a run has no value. */
        RunPage: {
            items: components["schemas"]["RunShape"][];
            count: number;
            fields: components["schemas"]["FieldShape"][];
            values: (number | string | null)[][];
        };
        /**
         * @description A run without its document. Times in seconds: `eta_s` in wall-clock time, `t_s` and `horizon_s` in virtual time.
         *
         *     `pace`: maximum virtual seconds per second, null for as fast as possible. `hold_at_frame`: number of frames at which it pauses; 0: at
         *     once, null: it runs to its end. `compiling`: its worker compiles the event loop of the query, once for each machine, and no time passes
         *     yet. `said`: the beginning of the notes on it. `sparkline`: p99 latency in ms at equal intervals of the run; null until it has ended,
         *     and for runs of older versions. `judged`: the outcome of all assertions together; null before the end, and without assertions.
         *     `verdicts`: that of each. `author`: name of the person who started it or its study; empty for runs of older versions, and of figures.
         */
        RunShape: {
            id: string;
            number: number;
            experiment: components["schemas"]["ExperimentName"];
            author: string;
            study: string | null;
            parent: string | null;
            fork_at_s: number | null;
            state: components["schemas"]["RunState"];
            seed: number;
            hash: string;
            engine_version: string;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            progress: number;
            t_s: number;
            horizon_s: number;
            eta_s: number | null;
            compiling: boolean;
            cancel_requested: boolean;
            pace: number | null;
            hold_at_frame: number | null;
            paused_at: string | null;
            frames: number;
            summary: {
                [key: string]: components["schemas"]["Json"];
            } | null;
            sparkline: (number | null)[] | null;
            digest: string | null;
            judged: ("holds" | "fails" | "cannot be judged") | null;
            verdicts: components["schemas"]["Verdict"][];
            frames_removed_at: string | null;
            error: string | null;
            tags: string[];
            said: string;
        };
        /** @description Fields that conditions can use: short names, summary metrics and document parameters. units: of those that have one, by name. */
        Fields: {
            short: string[];
            metrics: string[];
            parameters: string[];
            units: {
                [key: string]: string;
            };
        };
        /** @description The runs that the action changed. The others needed no change, or do not exist. */
        Changed: {
            changed: string[];
        };
        Noted: {
            notes: string;
        };
        ActorSample: {
            egress_mbit_per_s: number;
        };
        /** @description Instances aligning barriers at the end of the frame. barred_channels: number of blocked channels by edge. */
        Aligning: {
            operators: {
                [key: string]: components["schemas"]["AligningOperator"];
            };
            barred_channels: {
                [key: string]: number | null;
            };
        };
        AligningOperator: {
            instances: number | null;
            passed_over: number | null;
        };
        /**
         * @description Latency attribution: sums over the records whose service began in the frame, and over the records sent (docs/event-core.md, section
         *     11).
         */
        Attribution: {
            records: number;
            driver_queue_ns: number;
            channel_wait_ns: number;
            alignment_ns: number;
            service_ns: number;
            stolen_ns: number;
            sent: number;
            blocked_ns: number;
            network_ns: number;
        };
        /**
         * @description What a balancer planned at t_s for a join from from_s on. loads, planned: by worker since the plan before, and as they would have
         *     been with the moves, in comparisons or us. imbalance: sum of their deviations from the mean; imbalance_share: over the mean. moves:
         *     [space, number, from, to, load, bytes, benefit]. pending: worksets whose last move is still under way. hand_over: number of the
         *     hand-over in which records move; absent if none do. unknown: worksets of an order that did not exist, as [space, number]. splits: of
         *     worksets that are divided [space, number, first worker, parts]; absent without.
         */
        BalancingAction: {
            t_s: number;
            from_s: number;
            join: string;
            worksets: number;
            loads: number[];
            planned: number[];
            imbalance: number;
            imbalance_planned: number;
            imbalance_share: number;
            hand_over?: number;
            unknown?: [
                number,
                number
            ][];
            splits?: [
                number,
                number,
                number,
                number
            ][];
            moves: [
                number,
                number,
                number,
                number,
                number,
                number,
                number
            ][];
            pending: number;
        };
        /**
         * @description Since the last frame. Of the last action, over the mean load of a worker: the imbalance, the least and the largest load; null without
         *     one. hand_overs: those that ended; only in runs in which records move.
         */
        BalancingNews: {
            actions: components["schemas"]["BalancingAction"][];
            hand_overs?: components["schemas"]["WorksetHandOver"][];
            imbalance_share?: number | null;
            least_share?: number | null;
            most_share?: number | null;
        };
        /** @description The instance of a host that was busiest in the frame. */
        Busiest: {
            operator: string;
            index: number;
            busy: number;
        };
        CapturedCheckpoint: {
            operator: string;
            index: number;
            number: number;
            captured_s: number;
        };
        /**
         * @description Checkpointing activity since the last frame, and alignment at the end of this one. useless: checkpoints known to be on no recovery
         *     line.
         *     logs: bytes in the channel logs of each edge at the end of the frame. modes: checkpointing mode of each region at the end of the frame,
         *     if modes can change.
         */
        CheckpointNews: {
            rounds: components["schemas"]["CheckpointRound"][];
            skipped_s: number[];
            captured: components["schemas"]["CapturedCheckpoint"][];
            durable: components["schemas"]["DurableCheckpoint"][];
            recoveries: components["schemas"]["Recovery"][];
            searches?: components["schemas"]["LineSearch"][];
            modes?: {
                [key: string]: "coordinated" | "uncoordinated";
            };
            aligning: components["schemas"]["Aligning"];
            logs?: {
                [key: string]: number;
            };
            useless?: components["schemas"]["NumberedCheckpoint"][];
        };
        /**
         * @description A checkpoint round, as known to the coordinator at the end of a frame. region, operators: the participants, if not all operators take
         *     part. turn: the mode its region switches to when the round is confirmed. savepoint: the round belongs to a rescale.
         */
        CheckpointRound: {
            number: number;
            epoch: number;
            triggered_s: number;
            ended: ("confirmed" | "failed" | "aborted") | null;
            ended_s: number | null;
            hosts_done: number;
            checkpoints: number;
            bytes: number;
            /** @constant */
            savepoint?: true;
            region?: string;
            operators?: string[];
            turn?: components["schemas"]["RegionTurn"];
        };
        /** @description A thread of the broker: the number of the store whose changelog it cleans, null asleep; until when; the bytes that its pass reads. */
        CleanerSample: {
            log: number | null;
            until_s: number;
            bytes: number;
        };
        /** @description A copy of a query. mean_ms: mean latency; null without samples. queue: items in the queues of its operators. */
        CopySample: {
            mean_ms: number | null;
            out_per_s: number;
            queue: number;
        };
        /** @description A host that ran out of memory and died. restart_at_s: null if it never restarts. */
        Death: {
            host: string;
            at_s: number;
            used_bytes: number;
            limit_bytes: number;
            restart_at_s: number | null;
        };
        /**
         * @description kind: the protocol's name for it. reason: the rule that forced it. base: number of the checkpoint of the instance since which it
         *     stores what has changed; absent if it stores all state.
         */
        DurableCheckpoint: {
            operator: string;
            index: number;
            number: number;
            captured_s: number;
            durable_s: number;
            bytes: number;
            kind: string;
            base?: number;
            /** @enum {string} */
            reason?: "clock" | "cycle" | "clock and cycle" | "index";
        };
        /**
         * @description What the engine did in the frame. stopped_s: times from when to when it held all receivers. jobs: those that waited, worked or ended,
         *     of so many stages. scheduling_delay_s: of the last one that began; null: none has. limit_per_s: of all sources together, in records;
         *     null: none.
         */
        EngineNews: {
            stopped_s?: number[][];
            jobs?: components["schemas"]["JobNews"][];
            stages?: number;
            scheduling_delay_s?: number | null;
            limit_per_s?: number | null;
        };
        /**
         * @description One frame of virtual time. latencies_ms: additional latency measures by name. deaths: since the last frame. checkpoints: only in runs
         *     with a checkpointing protocol. scaling: only in runs that can rescale. scheduling: only in runs with a scheduler. balancing: only in
         *     runs that balance worksets. spaces: of similarity joins, by join. state: only in runs with local stores. output_logs and standbys: only
         *     in runs whose operators have them. queries: only of documents that name queries.
         */
        Frame: {
            n: number;
            t_s: number;
            latency_ms: components["schemas"]["Latency"];
            latencies_ms?: {
                [key: string]: components["schemas"]["Latency"];
            };
            offered_per_s: number | null;
            in_per_s: number | null;
            out_per_s: number | null;
            backlog: number | null;
            dropped?: number;
            lost?: number;
            deaths?: components["schemas"]["Death"][];
            queries?: {
                [key: string]: components["schemas"]["QuerySample"];
            };
            operators: {
                [key: string]: components["schemas"]["OperatorSample"];
            };
            hosts: {
                [key: string]: components["schemas"]["HostSample"];
            };
            trunks?: {
                [key: string]: components["schemas"]["TrunkSample"];
            };
            links?: components["schemas"]["LinkSample"][];
            actors?: {
                [key: string]: components["schemas"]["ActorSample"];
            };
            checkpoints?: components["schemas"]["CheckpointNews"];
            scaling?: components["schemas"]["ScalingNews"];
            scheduling?: components["schemas"]["SchedulingNews"];
            engine?: components["schemas"]["EngineNews"];
            balancing?: components["schemas"]["BalancingNews"];
            spaces?: {
                [key: string]: components["schemas"]["SpacesNews"];
            };
            state?: components["schemas"]["StateNews"];
            output_logs?: components["schemas"]["OutputLogNews"];
            standbys?: components["schemas"]["StandbyNews"];
        };
        /** @description next: the `after` of the next call, or null once the run has ended and no frames are left. */
        FramePage: {
            frames: components["schemas"]["Frame"][];
            next: number | null;
        };
        /** @description State of a host's memory model. */
        HostMemory: {
            used_bytes: number;
            peak_bytes: number;
            slow_down: number;
            full: boolean;
        };
        /**
         * @description A host at the end of the frame. egress_wait_ms: how long a message sent then waits until the outgoing link is free. busiest: of hosts
         *     with several instances. memory: null without a memory model.
         */
        HostSample: {
            busy: number | null;
            queue: number | null;
            egress_mbit_per_s: number | null;
            egress_wait_ms?: number;
            busiest?: components["schemas"]["Busiest"];
            queue_bytes?: number;
            unsent_bytes?: number;
            state_bytes?: number;
            memory?: components["schemas"]["HostMemory"] | null;
        };
        /** @description A job on the batch that ended at due_s. start_s: null while it waits. ends_s: of its stages. records: received in the batch. */
        JobNews: {
            due_s: number;
            start_s: number | null;
            ends_s: number[];
            records: number;
        };
        /** @description Percentiles in ms of the records delivered in the frame. */
        Latency: {
            count: number;
            p50: number | null;
            p95: number | null;
            p99: number | null;
            max: number | null;
            mean?: number | null;
        };
        /**
         * @description How a recovery line was found. newest: checkpoint numbers by operator and index. steps: operator, index, number before and after;
         *     operator and index of the sender, records sent and processed. GET /runs/{id}/recoveries/{epoch} explains them.
         */
        LineSearch: {
            epoch: number;
            newest: {
                [key: string]: number[];
            };
            steps: [
                string,
                number,
                number,
                number,
                string,
                number,
                number | null,
                number | null
            ][];
            in_flight: number;
        };
        /** @description A link in use with a bandwidth of its own. source, target: hosts. wait_ms: how long a message sent at the end of the frame waits. */
        LinkSample: {
            source: string;
            target: string;
            wait_ms: number;
        };
        /** @description The largest values of a single instance of an operator in the frame. busiest, most_blocked, fullest: the index of that instance. */
        Most: {
            busy: number;
            busiest: number;
            blocked: number;
            most_blocked: number;
            queue: number;
            fullest: number;
        };
        NumberedCheckpoint: {
            operator: string;
            index: number;
            number: number;
        };
        /**
         * @description An operator: means over its active instances, sums of rates. lost, in runs that lose hosts: records sent to it and never served, or
         *     taken in and not sent. shed: records that its sources on full hosts discarded. lag, of sources: records in the logs that are neither
         *     read nor dropped. most: of operators with several instances. latency_by_instance: by number of the instance, of sinks that measure
         *     it.
         */
        OperatorSample: {
            in_per_s: number | null;
            out_per_s: number | null;
            busy: number | null;
            blocked: number | null;
            stolen?: number | null;
            queue: number | null;
            state_bytes: number | null;
            watermark_lag_ms: number | null;
            late: number | null;
            shed?: number;
            lost?: number;
            lag?: number;
            attribution?: components["schemas"]["Attribution"];
            most?: components["schemas"]["Most"];
            latency_by_instance?: {
                [key: string]: components["schemas"]["Latency"];
            };
        };
        /**
         * @description A loss of a host with stores. started_s: its processes are up; ready_s: its stores are filled; null before that is known.
         *     lost_changes: those that were in no changelog. results_again: of windows, which come twice. again: records that its sources read again,
         *     null before it goes on.
         */
        Outage: {
            host: string;
            lost_s: number;
            disk_lost: boolean;
            started_s: number | null;
            ready_s: number | null;
            lost_changes: number;
            results_again: number;
            again: number | null;
            restores: components["schemas"]["Restore"][];
        };
        /** @description Of an instance: records that a recovery may read, and those of its input that it may process again; null: any number. */
        OutputLogLimits: {
            records: number | null;
            replay: number | null;
        };
        /**
         * @description Output logs. written records, those about windows, checkpoints and bytes: in the frame. The others at its end, of all instances
         *     together; infeasible: of how many the bound on records cannot hold. outages: as of stores.
         */
        OutputLogNews: {
            written: number;
            about: number;
            checkpoints: number;
            bytes: number;
            open_windows: number;
            extent: number;
            replay: number;
            infeasible: number;
            limits: components["schemas"]["OutputLogLimits"];
            logs: {
                [key: string]: components["schemas"]["OutputLogSample"];
            };
            outages: components["schemas"]["Outage"][];
        };
        /**
         * @description The output log of an instance. end: records that were ever written. kept: those that are still there. extent: those that a recovery
         *     would read; replay: records of the input that it would process again. oldest_s: start of the window with which the extent begins, null
         *     if none is open.
         */
        OutputLogSample: {
            end: number;
            kept: number;
            extent: number;
            open_windows: number;
            replay: number;
            checkpoints: number;
            oldest_s: number | null;
        };
        /**
         * @description A query of the document, over all its copies. served_per_s: records served by its operators, by each of them counted. queue: items in
         *     their queues. copies: by name, of queries with copies.
         */
        QuerySample: {
            latency_ms: components["schemas"]["Latency"];
            latencies_ms: {
                [key: string]: components["schemas"]["Latency"];
            };
            in_per_s: number;
            out_per_s: number;
            served_per_s: number;
            late: number;
            queue: number;
            copies?: {
                [key: string]: components["schemas"]["CopySample"];
            };
        };
        /**
         * @description A rollback to a recovery line. Times in virtual seconds, some by host. found_s: when the line was found, null during the search.
         *     line: checkpoint numbers by operator and index, 0 for the initial state.
         */
        Recovery: {
            epoch: number;
            hosts: string[];
            detected_s: number;
            found_s?: number | null;
            ordered_s: {
                [key: string]: number;
            };
            restored_s: {
                [key: string]: number;
            };
            go_s: number | null;
            line: {
                [key: string]: number[];
            };
        };
        /**
         * @description The mode that a region switches to when this round is confirmed. why: the reason, with the measured value and the limit
         *     (docs/engine-api.md).
         */
        RegionTurn: {
            /** @enum {string} */
            to: "coordinated" | "uncoordinated";
            /** @enum {string} */
            why: "skipped" | "wait" | "load";
            measured: number;
            limit: number;
        };
        /**
         * @description A rescale. Times in virtual seconds, null until known. moves: host before and after, by operator that moves; frames of older versions
         *     lack it.
         */
        RescaleAction: {
            number: number;
            /** @enum {string} */
            kind: "stop_and_restart" | "in_place";
            who: string;
            ordered_s: number;
            stopped_s: number | null;
            drained_s: number | null;
            stored_s: number | null;
            arranged_s: number | null;
            restored_s: number | null;
            ended_s: number | null;
            before: {
                [key: string]: number;
            };
            after: {
                [key: string]: number;
            };
            moves?: {
                [key: string]: [
                    string,
                    string
                ];
            };
            state_bytes: number | null;
            moved_bytes: number | null;
            lag_before: number | null;
            lag_after: number | null;
            /** @enum {string} */
            outcome: "" | "done" | "aborted";
            why: string;
        };
        /**
         * @description Of one instance after a crash: by its local store, from its changelog or its output log, and why not locally; the records of the log
         *     that were read.
         */
        Restore: {
            store: string;
            /** @enum {string} */
            way: "local" | "changelog" | "output_log";
            reason: string;
            records: number;
            bytes: number;
            took_ms: number;
        };
        /**
         * @description One iteration of a policy: the metrics it read, the values it computed, the parallelism it requested, the effect of each rule, and
         *     the outcome. values: name, vertex, number; null: infinite or not applicable. advice: requested parallelism by vertex.
         */
        ScalingDecision: {
            t_s: number;
            /** @enum {string} */
            verdict: "order" | "keep" | "no_metrics" | "busy";
            read: components["schemas"]["ScalingReading"][];
            bottlenecks: string[];
            values: [
                string,
                string,
                number | null
            ][];
            advice: {
                [key: string]: number;
            };
            steps: components["schemas"]["ScalingStep"][];
            why: string;
        };
        /**
         * @description Parallelism by operator at the end of a frame, and the decisions and rescales in it. workers: active instances. state: "starting"
         *     before the first iteration, "stopping" to "restoring" during a rescale, "cooldown" while the policy is not asked after a rescale.
         *     until_s: when that ends, if known. next_s: next iteration of the policy. lag: records waiting in the topic of each source. actions:
         *     rescales, repeated in full whenever they change. hosts: of operators that may move; frames of older versions lack it.
         */
        ScalingNews: {
            workers: number;
            parallelism: {
                [key: string]: number;
            };
            wanted: {
                [key: string]: number;
            };
            hosts?: {
                [key: string]: string;
            };
            /** @enum {string} */
            state: "running" | "starting" | "stopping" | "restarting" | "restoring" | "cooldown";
            until_s: number | null;
            next_s: number | null;
            lag: {
                [key: string]: number;
            };
            topic_wait_ms: number | null;
            oldest_wait_s: number | null;
            decisions: components["schemas"]["ScalingDecision"][];
            actions: components["schemas"]["RescaleAction"][];
        };
        /**
         * @description Metrics read for a vertex: means over its instances in ms per second, and total rates. Only its parallelism if there is no sample.
         *     cores, host: of an operator that may move, the CPU that it takes, in cores of speed 1, and where it is.
         */
        ScalingReading: {
            operator: string;
            p: number;
            busy_ms?: number;
            idle_ms?: number;
            blocked_ms?: number;
            fill?: number;
            cpu?: number;
            in_per_s?: number;
            out_per_s?: number;
            pending?: number;
            cores?: number;
            host?: string;
        };
        /** @description The requested parallelism after one rule was applied. */
        ScalingStep: {
            rule: string;
            parallelism: {
                [key: string]: number;
            };
        };
        /**
         * @description The last cycle of a host's scheduler, at t_s. frees_memory: it serves first what frees the most memory. heard_ms: by other host, how
         *     old what it said last is. memory_mode_s: since the start of the run. Frames of older versions lack memory.
         */
        ScheduledHost: {
            t_s: number;
            frees_memory: boolean;
            memory_budget_bytes?: number | null;
            memory_mode_s?: number;
            queries: {
                [key: string]: components["schemas"]["ScheduledQuery"];
            };
            heard_ms: {
                [key: string]: number;
            };
        };
        /**
         * @description Progress of the watermarks of a source instance. epochs: ended so far. Over the kept ones: period_ms, mean time between two sweeping
         *     watermarks; delay_ms, delay_sd_ms, of entries on their way to the source. taken_s: when the last watermark that was predicted came;
         *     low_s, high_s: the interval predicted when its epoch began.
         */
        ScheduledInput: {
            epochs: number;
            period_ms: number;
            delay_ms: number | null;
            delay_sd_ms: number | null;
            taken_s: number | null;
            low_s: number | null;
            high_s: number | null;
        };
        /**
         * @description A query in the last cycle of its host's scheduler. rank: its place in the policy's order, from 1. runs: it had work, and the queries
         *     before it left cores. waiting: items in its queues. why: values on which the policy decided. busy_s: CPU time of its operators on the
         *     host since the start of the run. inputs: its source instances on the host. Frames of older versions lack the last two.
         */
        ScheduledQuery: {
            rank: number;
            runs: boolean;
            waiting: number;
            why: {
                [key: string]: number;
            };
            busy_s?: number;
            inputs?: {
                [key: string]: components["schemas"]["ScheduledInput"];
            };
        };
        /**
         * @description The last cycles, by host, and counts since the start of the run. messages, message_bytes: between the schedulers of hosts.
         *     overhead: the scheduler's share of the CPU time of its hosts. hit_rate, width_ms: of predicted intervals of watermarks. memory_mode_s:
         *     time in which memory was freed first.
         */
        SchedulingNews: {
            policy: string;
            hosts: {
                [key: string]: components["schemas"]["ScheduledHost"];
            };
            cycles: number;
            switches: number;
            messages: number;
            message_bytes: number;
            overhead: number;
            hit_rate: number | null;
            width_ms: number | null;
            memory_mode_s: number;
        };
        /**
         * @description Of a similarity join. centroids: of its spaces, two coordinates at most, in the first frame, with the dimensions of vectors.
         *     worksets: new ones, as [space, number, worker, coordinates]. dropped: as [space, number]; only where unused ones are. Of the newest
         *     window, some times in it: loads, as [space, number, comparisons, records], and some of the records that are stored.
         */
        SpacesNews: {
            worksets: number[][];
            dropped?: [
                number,
                number
            ][];
            centroids?: number[][];
            dimensions?: number;
            loads?: [
                number,
                number,
                number,
                number
            ][];
            stored?: components["schemas"]["StoredRecord"][];
        };
        /**
         * @description Standbys at the end of the frame; held and behind: of all together. ready: pairs of which neither is lost. pairs: by instance.
         *     takeovers: that began in the frame, or were not over when it began.
         */
        StandbyNews: {
            held: number;
            behind: number;
            ready: number;
            pairs: {
                [key: string]: components["schemas"]["StandbySample"];
            };
            instances: components["schemas"]["StandbyPair"][];
            takeovers: components["schemas"]["Takeover"][];
        };
        /** @description An instance and its standby. names and hosts: its own, the standby's. */
        StandbyPair: {
            names: string[];
            hosts: string[];
        };
        /**
         * @description active: whose results are sent: 0 the operator's, 1 the standby's. lost: which of the two is lost, -1 if neither is. held: results of
         *     the standby that its sinks have not had from the operator. behind: records that it has still to process and the operator has processed,
         *     negative if it is ahead.
         */
        StandbySample: {
            active: number;
            lost: number;
            held: number;
            behind: number;
        };
        /**
         * @description Local stores. written_bytes to disks, appended records, requests to the broker, passes of cleaners, commits: in the frame. Bytes of
         *     all changelogs at its end, and the largest dirty_ratio of one. since_commit_s: since the last commit began, or since the start.
         *     broker_busy, worker_busy: of the cores, in the frame. cleaners: by number, from 1 on.
         *     stores: by instance, in the order of their numbers. Only where hosts may be lost: read_again, records that sources would read again if
         *     their hosts crashed now, and outages of which something has happened in the frame.
         */
        StateNews: {
            written_bytes: number;
            appended: number;
            requests: number;
            passes: number;
            commits: number;
            since_commit_s: number;
            changelog_bytes: number;
            clean_bytes: number;
            dirty_bytes: number;
            active_bytes: number;
            dirty_ratio: number;
            broker_busy: number;
            worker_busy: number;
            limits: components["schemas"]["StoreLimits"];
            settings: components["schemas"]["StoreSettings"];
            cleaners: {
                [key: string]: components["schemas"]["CleanerSample"];
            };
            stores: {
                [key: string]: components["schemas"]["StoreSample"];
            };
            read_again?: number;
            outages?: components["schemas"]["Outage"][];
        };
        /**
         * @description dirty: entries of a cache that leave together. buffer_bytes: of a full buffer, null without a disk. dirty_ratio: above which a log is
         *     cleaned, null if none is.
         */
        StoreLimits: {
            dirty: number;
            buffer_bytes: number | null;
            dirty_ratio: number | null;
        };
        /**
         * @description The store of an instance, from its cache down to its log. cached, dirty: entries of the cache. runs: on disk. behind: records
         *     of the log that a restore would read if the disk is left; records: if it is not.
         */
        StoreSample: {
            cached: number;
            dirty: number;
            buffer_bytes: number;
            full_buffers: number;
            runs: number;
            disk_bytes: number;
            write_amplification: number;
            read_amplification: number;
            log_bytes: number;
            clean_bytes: number;
            dirty_bytes: number;
            dirty_ratio: number;
            segments: number;
            end: number;
            behind: number;
            records: number;
        };
        /**
         * @description Those that may change while the query runs. backoff_s, threads: of cleaners, null without any. tuning_step: of the agent, null
         *     without one.
         */
        StoreSettings: {
            commit_s: number;
            segment_ms: number;
            backoff_s: number | null;
            threads: number | null;
            tuning_step: number | null;
        };
        /**
         * @description A record that a similarity join stores, with its copies. side: 0 for the left stream, 1 for the right. at: two coordinates at most.
         *     copies: each as [space, number, worker, role, distance, inner, outer, outlier]: its role (0 inner, 1 outer, 2 outlier) and its distance
         *     to the centroid (null: none) in a workset, and how many records of the other stream are stored there in each role.
         */
        StoredRecord: {
            side: number;
            event_s: number;
            at: number[];
            copies: [
                number,
                number,
                number,
                number,
                number | null,
                number,
                number,
                number
            ][];
        };
        /** @description host: that was lost. at_s: when its standbys send their results. again: how many of them they had held back, absent before. */
        Takeover: {
            host: string;
            lost_s: number;
            at_s: number;
            again?: number;
        };
        /** @description wait_ms: how long a message that enters the trunk at the end of the frame waits until it is free. */
        TrunkSample: {
            mbit_per_s: number;
            wait_ms?: number;
        };
        /**
         * @description Worksets that went to other workers with their records. Times when it was ordered, when the last worker concerned had its barrier,
         *     and when the last one had its records. bytes: of these.
         */
        WorksetHandOver: {
            number: number;
            bytes: number;
            ordered_s: number;
            aligned_s: number;
            ended_s: number;
        };
        /**
         * @description Something of a row that lasts: a query is served, a window has events, a workset has a load. until_act: from this act on it is gone;
         *     None: never.
         */
        Bar: {
            instance: number;
            at: number;
            until: number;
            act: number;
            until_act: number | null;
        };
        /**
         * @description A checkpoint in the diagram, or another moment of a row. id: used in marks. at: position on the axis. act: number of acts after
         *     which it exists; 0: from the start.
         */
        CheckpointMark: {
            id: string;
            instance: number;
            index: number;
            name: string;
            at: number;
            act: number;
            /** @enum {string} */
            kind: "start" | "basic" | "coordinated" | "forced" | "deadline" | "result" | "event" | "watermark" | "sweeping" | "cycle";
        };
        /**
         * @description A space-time diagram: one row per instance or query, over an axis from `first` to `last`. unit: of the axis; empty if only the order
         *     is known.
         */
        Diagram: {
            instances: string[];
            first: number;
            last: number;
            /** @default  */
            unit: string;
            checkpoints: components["schemas"]["CheckpointMark"][];
            messages: components["schemas"]["MessageArrow"][];
            /** @default [] */
            waits: components["schemas"]["Wait"][];
            /** @default [] */
            bars: components["schemas"]["Bar"][];
        };
        /** @description An explained case of a lesson, or recovery. heading: of the diagram. left_out: number of instances that are not drawn. */
        Explained: {
            name: string;
            text: string;
            shows: string;
            /** @default Instances over time */
            heading: string;
            diagram: components["schemas"]["Diagram"];
            steps: components["schemas"]["LessonStep"][];
            /** @default 0 */
            left_out: number;
        };
        /**
         * @description title: what happens. text: details and reason. act: number of acts shown; None: all. verdict: whether a line is consistent.
         *     line, marked, discarded, useless, forced, focus: ids of checkpoints. orphans, in_flight, stored, lost, aside, told: names of messages.
         *     edges: of the checkpoint graph, ids of tail and head.
         */
        LessonStep: {
            title: string;
            text: string;
            act: number | null;
            /**
             * @default
             * @enum {string}
             */
            verdict: "" | "good" | "bad";
            /** @default [] */
            line: string[];
            /** @default [] */
            marked: string[];
            /** @default [] */
            discarded: string[];
            /** @default [] */
            useless: string[];
            /** @default [] */
            focus: string[];
            /** @default [] */
            orphans: string[];
            /** @default [] */
            in_flight: string[];
            /** @default [] */
            stored: string[];
            /** @default [] */
            lost: string[];
            /** @default [] */
            aside: string[];
            /** @default [] */
            told: string[];
            /** @default [] */
            edges: [
                string,
                string
            ][];
            table: components["schemas"]["Table"] | null;
        };
        /**
         * @description A message, a barrier, a watermark, or a copy of an entry, which is named at its ends. arrives_at: None if it never arrives.
         *     processed_at: later than arrives_at if it was buffered, None if it was never processed. The acts say from when each part is visible.
         */
        MessageArrow: {
            name: string;
            /** @enum {string} */
            kind: "record" | "barrier" | "watermark" | "copy";
            sender: number;
            receiver: number;
            sent_at: number;
            sent_act: number;
            arrives_at: number | null;
            arrives_act: number | null;
            processed_at: number | null;
            processed_act: number | null;
        };
        /** @description What is known at a step, one row for each instance or query. */
        Table: {
            /** @default What each instance knows after this step */
            title: string;
            columns: string[];
            rows: string[][];
        };
        /** @description An instance blocks a channel whose barrier has arrived. until: None if that never ends. */
        Wait: {
            instance: number;
            sender: number;
            at: number;
            act: number;
            until: number | null;
            until_act: number | null;
        };
        /** @description operators: latency attribution by operator. */
        AttributionAnswer: {
            operators: {
                [key: string]: components["schemas"]["Attribution"] | null;
            };
        };
        /** @description A record identified by its delivery. Each sink instance delivers at most one record at a time. */
        DeliveredRecord: {
            /** @description sink operator that delivered the record */
            sink: string;
            /** @description identifier of the input record that triggered it */
            trigger: number;
            /** @description virtual time of delivery */
            end_ns: number;
        };
        /** @description Records drawn at random, each with equal probability. */
        Sample: {
            /** @description share of the delivered records */
            rate: number;
            /**
             * @description seed of the random draw
             * @default 0
             */
            seed?: number;
        };
        /** @description The slowest and the sample are taken over all sinks, from records delivered in the given interval, by default after warm-up. */
        Selection: {
            /**
             * @description number of records with the largest latency to select
             * @default 0
             */
            slowest?: number;
            /** @description random sample of the delivered records */
            sample?: components["schemas"]["Sample"] | null;
            /** @description delivery interval for slowest and sample; default: after warm-up */
            between?: components["schemas"]["Stretch"] | null;
            /**
             * @description individual records
             * @default []
             */
            records?: components["schemas"]["DeliveredRecord"][];
        };
        /** @description An interval of virtual time. */
        Stretch: {
            /** @description start, exclusive */
            after_ns: number;
            /** @description end, inclusive */
            to_ns: number;
        };
        /** @description A request for waterfalls of a run. `records`: number of records found. `note`: a remark about its start, for the user. */
        WaterfallsShape: {
            id: string;
            run: string;
            selection: components["schemas"]["Selection"];
            state: components["schemas"]["RunState"];
            progress: number;
            records: number | null;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /** @description Latency breakdown of one delivered record, from the measured clock to delivery; each part starts where the previous one ends. */
        Waterfall: {
            sink: string;
            instance: number;
            trigger: number;
            end_ns: number;
            latency_ns: number;
            parts: components["schemas"]["WaterfallPart"][];
        };
        /** @description An interval of a record's latency. instance: index within the operator; for network parts, that of the sender. */
        WaterfallPart: {
            part: string;
            operator: string;
            instance: number;
            start_ns: number;
            end_ns: number;
        };
        /** @description waterfalls: null until the answer is ready. */
        WaterfallsAnswer: {
            id: string;
            run: string;
            selection: components["schemas"]["Selection"];
            state: components["schemas"]["RunState"];
            progress: number;
            records: number | null;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
            waterfalls: components["schemas"]["Waterfall"][] | null;
        };
        /**
         * @description The query of a run, executed on a real Spark. files: into which the input of each source is cut. paced: in place of that, input
         *     appears at the pace of the logs. trigger_ms: least time between micro-batches then. batches: micro-batches that have ended. equal:
         *     whether Spark's records are the engine's; null until they are compared. note: why its start may be delayed.
         */
        SparkRunShape: {
            id: string;
            run: string;
            files: number;
            paced: boolean;
            trigger_ms: number;
            state: components["schemas"]["RunState"];
            doing: string;
            progress: number;
            batches: number;
            equal: boolean | null;
            author: string;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /** @description Results that came in the span before t_s, in the time of the logs; those of the warm-up, too. */
        LatencyPoint: {
            t_s: number;
            p50_ms: number;
            p99_ms: number;
        };
        /**
         * @description sink: the query's sink; each sink is a query of its own in Spark. began_s: Unix time. took_ms: by operation, too: `addBatch` is the
         *     work on records. watermark_s: virtual time; null without one, and once all windows have ended. behind_ms: virtual time from the
         *     watermark to the newest event. dropped: records behind the watermark. lost: it was done, and Spark died before it said so; its other
         *     numbers are unknown, and 0 or null.
         */
        MicroBatch: {
            sink: string;
            batch: number;
            began_s: number;
            records_in: number;
            took_ms: number;
            operations_ms: {
                [key: string]: number;
            };
            watermark_s: number | null;
            behind_ms: number | null;
            state_rows: number;
            state_bytes: number;
            dropped: number;
            lost: boolean;
        };
        /** @description results: that came behind the warm-up and before the end of the logs. Exact quantiles over them; null without any. */
        ResultLatency: {
            results: number;
            p50_ms: number | null;
            p95_ms: number | null;
            p99_ms: number | null;
            points: components["schemas"]["LatencyPoint"][];
        };
        /**
         * @description records_per_s: of the input, over the time in micro-batches. took_s: in the last attempt. late: records that the model dropped.
         *     dropped: by Spark's watermarks. latency: by sink, of paced input; none of a sink whose records differ.
         */
        SparkComparison: {
            equal: boolean;
            sinks: {
                [key: string]: components["schemas"]["SparkDifference"];
            };
            records_in: number;
            batches: number;
            records_per_s: number;
            took_s: number;
            late: number;
            dropped: number;
            machine: string;
            latency?: {
                [key: string]: components["schemas"]["ResultLatency"];
            };
        };
        /** @description Records of a sink. of_model, of_spark: how many there are. only_model, only_spark: the first of those that the other lacks. */
        SparkDifference: {
            equal: boolean;
            of_model: number;
            of_spark: number;
            differing: number;
            only_model: {
                [key: string]: components["schemas"]["Json"];
            }[];
            only_spark: {
                [key: string]: components["schemas"]["Json"];
            }[];
        };
        /**
         * @description What the model predicted before Spark began. predicted: null with the reason in `why_not`. measured: null until Spark has executed
         *     the query. latency: predicted, of paced input. made: day of the calibration. said: what speaks against comparing the two.
         */
        SparkPrediction: {
            predicted: components["schemas"]["SparkSpeed"] | null;
            measured: components["schemas"]["SparkSpeed"] | null;
            latency?: components["schemas"]["ResultLatency"] | null;
            why_not: string;
            made: string;
            said: string[];
        };
        /**
         * @description micro_batches: those that have ended, in the order in which they did. prediction: null until it is made.
         *     comparison: null until the records are compared.
         */
        SparkRunDetail: {
            id: string;
            run: string;
            files: number;
            paced: boolean;
            trigger_ms: number;
            state: components["schemas"]["RunState"];
            doing: string;
            progress: number;
            batches: number;
            equal: boolean | null;
            author: string;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
            micro_batches: components["schemas"]["MicroBatch"][];
            prediction: components["schemas"]["SparkPrediction"] | null;
            comparison: components["schemas"]["SparkComparison"] | null;
        };
        /**
         * @description Of the micro-batches with records, without the first ones. batch_ms: the median. low_ms, high_ms: quartiles. records_per_s: of all,
         *     over the time that they took.
         */
        SparkSpeed: {
            batches: number;
            batch_ms: number;
            low_ms: number;
            high_ms: number;
            records_per_s: number;
        };
        /** @description What limits the run from `from_s` to `to_s`. operator, instances, host, link: what is at its limit. */
        DiagnosisShape: {
            kind: components["schemas"]["LimitKind"];
            sentence: string;
            evidence: components["schemas"]["EvidenceShape"][];
            operator: string | null;
            instances: number[];
            host: string | null;
            link: string[];
            also: string[];
            from_s: number;
            to_s: number;
            frames: number;
            remedies: components["schemas"]["RemedyShape"][];
        };
        /** @description A metric of a run and of the run of a remedy. unit: empty for counts. */
        EffectShape: {
            label: string;
            unit: string;
            before: number | null;
            after: number | null;
        };
        EvidenceShape: {
            label: string;
            value: string;
        };
        /**
         * @description What can limit a run.
         * @enum {string}
         */
        LimitKind: "nothing" | "instances" | "skew" | "source" | "cores" | "link" | "credits" | "collector" | "protocol" | "recovery" | "rescale" | "fault" | "unclear";
        /** @description The run of a remedy: the newest of its document in this lab. effects: empty until it has ended. */
        RemedyRun: {
            /** Format: uuid */
            id: string;
            number: number;
            state: string;
            effects: components["schemas"]["EffectShape"][];
        };
        /** @description A change that would help. run: null until it has been run. */
        RemedyShape: {
            name: string;
            text: string;
            run: components["schemas"]["RemedyRun"] | null;
        };
        /**
         * @description An instance in one frame. share: of the operator's input. Times are shares of the frame. watermark_lag_ms: null before the first
         *     watermark and after the last.
         */
        InstanceRow: {
            operator: string;
            index: number;
            host: string;
            in_per_s: number;
            out_per_s: number;
            share: number | null;
            busy: number;
            blocked: number;
            stolen: number;
            queue: number;
            queue_bytes: number;
            state_bytes: number;
            watermark_lag_ms: number | null;
            late: number;
            lost: number;
        };
        /** @description The instances in the frame from `from_s` to `to_s`: the stored one that contains the moment, or the nearest. */
        InstancesShape: {
            frame: number;
            from_s: number;
            to_s: number;
            rows: components["schemas"]["InstanceRow"][];
        };
        /** @description A key. records: of it that went to the instance; share: of the instance's records. */
        KeyShape: {
            key: string;
            records: number;
            share: number;
        };
        /**
         * @description The keys with the most records among those that the sources read in a frame and that went to one instance.
         *
         *     field: by whose value records are assigned to instances. records: number that went to the instance; of_operator: to all instances.
         *     distinct: number of keys of the instance. keys: at most ten. reason: null, or why the keys cannot be told; the others are then empty.
         */
        KeysShape: {
            frame: number;
            from_s: number;
            to_s: number;
            field: string;
            records: number;
            of_operator: number;
            distinct: number;
            keys: components["schemas"]["KeyShape"][];
            reason: string | null;
        };
        /** @description pairs: that the run found. least: that comparing all finds; most: with those of which rounding decides. records: by input. */
        Exactness: {
            pairs: number;
            least: number;
            most: number;
            exact: boolean;
            records: {
                [key: string]: number;
            };
        };
        /** @description The baseline of an experiment. metrics: those that the run list can show, by name, as far as the run measured them. */
        BaselineShape: {
            experiment: string;
            run: string;
            number: number;
            metrics: {
                [key: string]: number;
            };
        };
        ComparisonShape: {
            sides: components["schemas"]["SideShape"][];
            gone: components["schemas"]["Gone"][];
        };
        /** @description Difference of the means with its 95 % interval. distinguishable: whether it is more than chance; null with a single run on a side. */
        Difference: {
            difference: number;
            low: number | null;
            high: number | null;
            p: number | null;
            pairs: number;
            distinguishable: boolean | null;
        };
        /** @description A difference from the first document. path: JSON pointer. where: operator, host or section. text: the difference in one sentence. */
        DocumentDifference: {
            path: string;
            where: string;
            label: string;
            before: components["schemas"]["Json"];
            after: components["schemas"]["Json"];
            text: string;
        };
        /** @description A run that cannot be compared. number: its number if it was deleted; null if no such run existed in this lab. */
        Gone: {
            id: string;
            number: number | null;
        };
        MeanOverSeeds: {
            mean: number;
            low: number | null;
            high: number | null;
            count: number;
        };
        RunOfSide: {
            id: string;
            number: number;
            seed: number;
        };
        /**
         * @description A run and the runs that differ from it only in their seed. under_way: seeds whose runs have not finished. twin: another side differs
         *     from this one only in its seed, so each is shown on its own. differs: how the document differs from the first side's; differs_count
         *     of them exist.
         */
        SideShape: {
            run: string;
            runs: components["schemas"]["RunOfSide"][];
            under_way: number[];
            twin: boolean;
            over_seeds: {
                [key: string]: components["schemas"]["MeanOverSeeds"];
            };
            against: {
                [key: string]: components["schemas"]["Difference"];
            };
            differs: components["schemas"]["DocumentDifference"][];
            differs_count: number;
        };
        StudyPage: {
            items: components["schemas"]["StudyShape"][];
            count: number;
        };
        /** @description A study without its document. `trials_left`: an estimate for searches, null until the study has begun. `eta_s`: wall-clock time. */
        StudyShape: {
            id: string;
            name: string;
            experiment: string;
            state: components["schemas"]["RunState"];
            progress: number;
            trials_done: number;
            trials_failed: number;
            trials_left: number | null;
            eta_s: number | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            error: string | null;
        };
        /**
         * @description What learned models predicted of the points of a study, in their order, before any of them was run. models: their name. points: by
         *     cost, the prediction of each member.
         */
        Predictions: {
            models: string;
            points: {
                [key: string]: number[];
            }[];
        };
        /** @description A study with its document. `metrics`: names of the metrics that its runs measured so far. `note`: what its runs are waiting for. */
        StudyDetail: {
            id: string;
            name: string;
            experiment: string;
            state: components["schemas"]["RunState"];
            progress: number;
            trials_done: number;
            trials_failed: number;
            trials_left: number | null;
            eta_s: number | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            error: string | null;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            predictions: components["schemas"]["Predictions"] | null;
            metrics: string[];
            note: string | null;
        };
        /** @description document: JSON Schema of a study's document. values, designs, searches: the available kinds of each part. */
        StudyCatalogue: {
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            values: components["schemas"]["Kind"][];
            designs: components["schemas"]["Kind"][];
            searches: components["schemas"]["Kind"][];
        };
        /**
         * @description points: number of points of the design. runs: lower bound on the number of runs; a search makes more at each point. first: values of
         *     the first points, empty for an optimisation. metrics: metrics that runs of its experiment measure, empty if the experiment is
         *     invalid.
         */
        Checked: {
            problems: components["schemas"]["Problem"][];
            points: number | null;
            runs: number | null;
            first: {
                [key: string]: components["schemas"]["Json"];
            }[];
            metrics: string[];
        };
        /** @description Runs of a point in which an assertion of the experiment holds, fails and cannot be judged. */
        AssertionCount: {
            name: string;
            holds: number;
            fails: number;
            not_judged: number;
        };
        /** @description sustained: largest sustained load. failed: smallest load above it that was not sustained. over: the search has ended. */
        Found: {
            point: number;
            values: {
                [key: string]: components["schemas"]["Json"];
            };
            seed: number;
            sustained: number | null;
            failed: number | null;
            over: boolean;
            failure: string | null;
            tried: components["schemas"]["Tried"][];
        };
        Interval: {
            mean: number;
            low: number | null;
            high: number | null;
            count: number;
        };
        /** @description assertions: counted over the runs that have ended. */
        Point: {
            point: number;
            values: {
                [key: string]: components["schemas"]["Json"];
            };
            share: number | null;
            runs: components["schemas"]["RunOf"][];
            over_seeds: {
                [key: string]: components["schemas"]["Interval"];
            };
            assertions: components["schemas"]["AssertionCount"][];
        };
        /** @description next: the `offset` of the next call, or null if nothing is left. count: number of points of the study. */
        Results: {
            points: components["schemas"]["Point"][];
            found: components["schemas"]["Found"][];
            next: number | null;
            count: number;
        };
        /** @description state: the run's state; a failed run stalled or ran out of memory, which is a result. failure: why there is no result. */
        RunOf: {
            seed: number;
            values: {
                [key: string]: components["schemas"]["Json"];
            };
            run: string | null;
            number: number | null;
            state: components["schemas"]["RunState"] | null;
            reused: boolean;
            metrics: {
                [key: string]: number;
            };
            failure: string | null;
        };
        Tried: {
            load: number;
            sustained: boolean;
            reasons: string[];
            figures: {
                [key: string]: number;
            };
            run: string | null;
            number: number | null;
        };
        /** @description trials: chosen so far, in order. best: points that no other feasible point dominates. */
        Optimisation: {
            trials: components["schemas"]["TriedPoint"][];
            best: number[];
        };
        /**
         * @description objectives, bounds: values over the seeds, in document order; null where not available (yet). feasible: all values are available and
         *     all bounds hold. failure: why the point does not count.
         */
        TriedPoint: {
            point: number;
            values: {
                [key: string]: components["schemas"]["Json"];
            };
            ended: boolean;
            objectives: (number | null)[];
            bounds: (number | null)[];
            feasible: boolean;
            failure: string | null;
        };
        AssertionCounts: {
            holds?: number;
            fails?: number;
            "not evaluated"?: number;
            "not run"?: number;
        };
        /**
         * @description A figure in a list. status: reproduced, calibrated, partly, not reproduced, not evaluated (none of its assertions was), or not run.
         *     scale and the fields after it describe the result that counts: the lab's newest at the largest scale, or, if the lab has none, the one
         *     that comes with Millrace (is_shipped); null without either. assertions: number in each state, without consistency checks. lacking: ids
         *     of assertions that do not hold. under_way: reproductions in progress.
         */
        FigureItem: {
            id: string;
            title: string;
            source: components["schemas"]["FigureSource"];
            /** @enum {string} */
            status: "reproduced" | "calibrated" | "partly" | "not reproduced" | "not evaluated" | "not run";
            scale: ("smoke" | "dev" | "paper") | null;
            engine_version: string | null;
            seeds: number[] | null;
            runs: number | null;
            took_s: number | null;
            created_at: string | null;
            is_shipped: boolean;
            shipped: components["schemas"]["ShippedShape"] | null;
            assertions: components["schemas"]["AssertionCounts"];
            lacking: string[];
            under_way: components["schemas"]["ReproductionShape"][];
        };
        FigureSource: {
            paper: string;
            figure: string;
            section: string;
            page: string;
        };
        /**
         * @description A requested reproduction of a figure. progress: of its studies, 0 to 1. doing: what is done for its learned models. note: why its
         *     start may be delayed.
         */
        ReproductionShape: {
            id: string;
            figure: string;
            /** @enum {string} */
            scale: "smoke" | "dev" | "paper";
            state: components["schemas"]["RunState"];
            progress: number;
            doing: string;
            error: string;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /** @description The result that comes with Millrace, at its largest scale. is_current: measured by this version of the engine. */
        ShippedShape: {
            /** @enum {string} */
            scale: "smoke" | "dev" | "paper";
            /** @enum {string} */
            status: "reproduced" | "calibrated" | "partly" | "not reproduced" | "not evaluated" | "not run";
            engine_version: string;
            is_current: boolean;
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @description state: holds, fails, not evaluated (reason says why), or not run. sides: the values compared; for a series, its minimum and
         *     maximum. consistency: true by construction, and not counted.
         */
        FigureAssertion: {
            id: string;
            text: string;
            check: string;
            tolerance: number | null;
            /** @enum {string} */
            state: "holds" | "fails" | "not evaluated" | "not run";
            sides: components["schemas"]["FigureSide"][];
            reason: string;
            consistency: boolean;
            unmet: components["schemas"]["UnmetShape"] | null;
        };
        /**
         * @description document: the figure as written. is_shipped: what follows is the result that comes with Millrace, since the lab has none. agrees: the
         *     lab's result has the same values as that; null without both at one scale. values: by name; their `runs` are keys (hashes of document and
         *     seed). lab_runs: runs of this lab with these keys, by key; a key without a run in this lab is missing. results: the lab's, newest first,
         *     then those that come with Millrace.
         */
        FigureDetail: {
            id: string;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
            /** @enum {string} */
            status: "reproduced" | "calibrated" | "partly" | "not reproduced" | "not evaluated" | "not run";
            scale: ("smoke" | "dev" | "paper") | null;
            is_shipped: boolean;
            agrees: boolean | null;
            values: {
                [key: string]: components["schemas"]["FigureValue"];
            };
            assertions: components["schemas"]["FigureAssertion"][];
            lab_runs: {
                [key: string]: components["schemas"]["RunBehind"];
            };
            results: components["schemas"]["FigureResultShape"][];
        };
        /**
         * @description A result. stale: the figure has changed since. is_shipped: it comes with Millrace. is_current: measured by this version of the
         *     engine.
         */
        FigureResultShape: {
            /** @enum {string} */
            scale: "smoke" | "dev" | "paper";
            /** @enum {string} */
            status: "reproduced" | "calibrated" | "partly" | "not reproduced" | "not evaluated" | "not run";
            engine_version: string;
            seeds: number[];
            runs: number;
            took_s: number;
            /** Format: date-time */
            created_at: string;
            stale: boolean;
            is_shipped: boolean;
            is_current: boolean;
        };
        /** @description most: null for a number that is only known to be at least `least`. */
        FigureSide: {
            text: string;
            least: number;
            most: number | null;
        };
        FigureValue: components["schemas"]["NumberValue"] | components["schemas"]["SeriesValue"] | components["schemas"]["NoValue"];
        /** @description No value, and why. */
        NoValue: {
            reason: string;
        };
        /**
         * @description runs: keys (hashes of document and seed) of the runs that the value was computed from. at_least: it was still growing when its run
         *     ended, so it is this, or more.
         */
        NumberValue: {
            value: number;
            low?: number;
            high?: number;
            runs?: string[];
            at_least?: boolean;
        };
        RunBehind: {
            id: string;
            number: number;
            seed: number;
            state: components["schemas"]["RunState"];
        };
        /** @description runs: keys, one list per point or one list for all points. at_least: which y are this, or more. */
        SeriesValue: {
            x: (number | string)[];
            y: number[];
            low?: (number | null)[];
            high?: (number | null)[];
            runs?: string[][];
            at_least?: boolean[];
        };
        /** @description Why an assertion does not hold, by its author, and on which day that was written. */
        UnmetShape: {
            why: string;
            /** Format: date */
            on: string;
        };
        AtScale: {
            document: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        /** @description done: traces that are measured. balance: null until all are. */
        CorpusShape: {
            name: string;
            draw: string;
            seed: number;
            traces: number;
            done: number;
            measured_by: string;
            balance: components["schemas"]["LabelSpread"] | null;
        };
        /**
         * @description How labels are spread. failures: number of traces by cause. backpressured: of those that succeeded. spans: least, median and
         *     greatest value of each cost.
         */
        LabelSpread: {
            traces: number;
            succeeded: number;
            failures: {
                [key: string]: number;
            };
            backpressured: number;
            spans: {
                [key: string]: number[];
            };
            digest: string;
        };
        /** @description jobs: those in progress, and the last that ended, newest first. import_bytes_max: of an archive. */
        Learning: {
            corpora: components["schemas"]["CorpusShape"][];
            models: components["schemas"]["ModelRow"][];
            jobs: components["schemas"]["LearningJobShape"][];
            import_bytes_max: number;
        };
        /** @description Measuring a corpus, or training models. name: of what is made. doing: what is going on. note: why its start may be delayed. */
        LearningJobShape: {
            id: string;
            /** @enum {string} */
            kind: "corpus" | "models";
            name: string;
            settings: {
                [key: string]: components["schemas"]["Json"];
            };
            state: components["schemas"]["RunState"];
            doing: string;
            author: string;
            error: string;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /**
         * @description Models of a corpus in a list. promoted: they are the default, which advice asks if a question names none. members: trained models by
         *     cost. q50: median q-error of the network on the test, by cost; accuracy: share of correct classes.
         */
        ModelRow: {
            name: string;
            shipped: boolean;
            promoted: boolean;
            corpus: string;
            traces: number;
            measured_by: string;
            hidden: number;
            logarithmic: boolean;
            members: {
                [key: string]: number;
            };
            q50: {
                [key: string]: number;
            };
            accuracy: {
                [key: string]: number;
            };
        };
        /** @description validation: median q-error, or share of wrong classes. */
        EpochShape: {
            number: number;
            loss: number;
            validation: number;
            best: boolean;
        };
        MemberShape: {
            /** @enum {string} */
            metric: "throughput" | "processing_latency" | "end_to_end_latency" | "flows" | "success";
            seed: number;
            epochs: components["schemas"]["EpochShape"][];
            is_trained: boolean;
        };
        ModelDetail: {
            name: string;
            shipped: boolean;
            promoted: boolean;
            corpus: string;
            traces: number;
            measured_by: string;
            hidden: number;
            logarithmic: boolean;
            members: {
                [key: string]: number;
            };
            q50: {
                [key: string]: number;
            };
            accuracy: {
                [key: string]: number;
            };
            training: components["schemas"]["MemberShape"][];
            report: components["schemas"]["WorthShape"][];
        };
        /**
         * @description What predictors of one cost are worth on the test. off: by predictor, q50 and q95, or accuracy, and more. points: pairs of what was
         *     measured and what the network predicts.
         */
        WorthShape: {
            /** @enum {string} */
            metric: "throughput" | "processing_latency" | "end_to_end_latency" | "flows" | "success";
            traces: {
                [key: string]: number;
            };
            off: {
                [key: string]: {
                    [key: string]: number | boolean | null;
                };
            };
            points?: number[][];
        };
        Imported: {
            name: string;
        };
        /** @description figure: number of the paper's figure that it follows. group: lessons on one subject. */
        LessonItem: {
            id: string;
            title: string;
            group: string;
            figure: string;
            source: string;
            text: string;
        };
        LessonTold: {
            id: string;
            title: string;
            group: string;
            figure: string;
            source: string;
            text: string;
            cases: components["schemas"]["Explained"][];
        };
        AnalysisPage: {
            items: components["schemas"]["SparkJobShape"][];
            count: number;
            spark: components["schemas"]["SparkState"];
        };
        /**
         * @description An analysis over many runs. runs: number of runs it covers. read: number of runs whose files this job reads; the others were cached.
         *     Both are null until it has selected its runs. progress: fraction of `read` done, 0 to 1; at 1, while it is running, it computes the
         *     answer. note: why its start may be delayed.
         */
        SparkJobShape: {
            id: string;
            kind: string;
            question: {
                [key: string]: components["schemas"]["Json"];
            };
            state: components["schemas"]["RunState"];
            progress: number;
            runs: number | null;
            read: number | null;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /**
         * @description state: asleep (Spark starts with the next job), ready, unavailable, or absent (no analysis worker). message: what is missing and what
         *     to do. cores: total over all executors, 0 until Spark has started.
         */
        SparkState: {
            /** @enum {string} */
            state: "absent" | "asleep" | "ready" | "unavailable";
            master: string;
            message: string;
            cores: number;
        };
        /**
         * @description Runs and the size of their files. bytes: null if none of them was measured yet; runs not yet measured count as the mean of the
         *     others.
         */
        FilesToRead: {
            runs: number;
            bytes: number | null;
        };
        SelectedExperiment: {
            id: string;
            name: string;
            runs: number;
        };
        /**
         * @description all: every run of this side. new: those whose files no earlier question over the same span has read. first_at, last_at: when the
         *     first and the last of them ended. experiments: those with the most runs; experiment_count: number of all.
         */
        SelectedRuns: {
            all: components["schemas"]["FilesToRead"];
            new: components["schemas"]["FilesToRead"];
            first_at: string | null;
            last_at: string | null;
            experiments: components["schemas"]["SelectedExperiment"][];
            experiment_count: number;
        };
        /** @description against: null unless the question is a comparison. common: number of runs on both sides. new: files to read, each run once. */
        SelectionOfRuns: {
            runs: components["schemas"]["SelectedRuns"];
            against: components["schemas"]["SelectedRuns"] | null;
            common: number;
            new: components["schemas"]["FilesToRead"];
        };
        /** @description answer: null until the job has succeeded; its `rows` are the requested page. count: total number of rows. */
        AnalysisDetail: {
            id: string;
            kind: string;
            question: {
                [key: string]: components["schemas"]["Json"];
            };
            state: components["schemas"]["RunState"];
            progress: number;
            runs: number | null;
            read: number | null;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
            answer: {
                [key: string]: components["schemas"]["Json"];
            } | null;
            count: number;
        };
        /**
         * @description A measurement of what micro-batches take on the machine of the analysis worker. progress: fraction of the queries measured, 0 to 1.
         *     though_busy: also while other processes are at work. note: why its start may be delayed.
         */
        CalibrationJobShape: {
            id: string;
            state: components["schemas"]["RunState"];
            though_busy: boolean;
            doing: string;
            progress: number;
            author: string;
            error: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            note: string | null;
        };
        /**
         * @description machine: what was measured last, by any lab or by `manage.py calibrate`; null before, or if the file cannot be read, which `problem`
         *     says. job: the measurement that the lab asked for last.
         */
        CalibrationState: {
            machine: components["schemas"]["MachineShape"] | null;
            problem: string | null;
            job: components["schemas"]["CalibrationJobShape"] | null;
        };
        /** @description made: day. busy: share of the machine's time that others had meanwhile. overheads_ms: of the engine `spark_structured`. */
        MachineShape: {
            made: string;
            machine: string;
            cores: number;
            spark: string;
            busy: number;
            overheads_ms: {
                [key: string]: number;
            };
            prices: components["schemas"]["PriceOfKind"][];
            measured: components["schemas"]["MeasuredQuery"][];
        };
        /** @description Medians over micro-batches. spread: interquartile range of the work over its median. records: of a micro-batch. */
        MeasuredQuery: {
            query: string;
            planning_ms: number;
            work_ms: number;
            commit_ms: number;
            spread: number;
            records: number;
        };
        /** @description Of a core, in us: for a record, for a result, and for a commit of state. */
        PriceOfKind: {
            kind: string;
            record_us: number;
            output_us: number;
            control_us: number;
        };
        TagItem: {
            name: string;
            runs: number;
        };
        /**
         * @description The query of a view, as in the URL of the run list. columns, measures, axes: names separated by commas. Empty: the default.
         *
         *     show: groups by one field or by two (`by`, `then`), ordered by `order`, with `measures`; a scatter of `x` and `y`; parallel `axes`; or
         *     the list alone. colour: the field by which points are coloured. log: the axes that are logarithmic.
         */
        Asked: {
            state?: components["schemas"]["RunState"] | null;
            experiment?: string | null;
            study?: string | null;
            /** @default false */
            of_studies?: boolean;
            /** @default  */
            tag?: string;
            /** @default  */
            search?: string;
            /** @default  */
            sort?: string;
            /** @default  */
            columns?: string;
            /**
             * @default
             * @enum {string}
             */
            show?: "" | "groups" | "scatter" | "parallel";
            /** @default  */
            by?: string;
            /** @default  */
            then?: string;
            /** @default  */
            measures?: string;
            /** @default  */
            order?: string;
            /** @default  */
            x?: string;
            /** @default  */
            y?: string;
            /** @default  */
            colour?: string;
            /** @default  */
            log?: string;
            /** @default  */
            axes?: string;
        };
        ViewShape: {
            id: string;
            name: string;
            query: components["schemas"]["Asked"];
            author: string | null;
            /** Format: date-time */
            created_at: string;
        };
        Template: {
            id: string;
            document: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        DatasetColumn: {
            name: string;
            type: string;
            sample: components["schemas"]["Json"][];
        };
        DatasetShape: {
            id: string;
            name: string;
            rows: number;
            bytes: number;
            columns: components["schemas"]["DatasetColumn"][];
            timestamps: string[];
            /** Format: date-time */
            created_at: string;
        };
        /** @description How one column is read. written: its name in the file. time_format, time_zone: of timestamps. fill: in place of missing values. */
        ReadColumnShape: {
            written: string;
            name: string;
            /** @enum {string} */
            type: "int" | "float" | "bool" | "string" | "timestamp" | "vector";
            keep: boolean;
            time_format?: string;
            time_zone?: string;
            fill?: boolean | number | string;
        };
        /** @description A problem of a reading. pointer: into the reading, or /file. line, column: of the cell at fault. */
        ReadingProblem: {
            pointer: string;
            code: string;
            message: string;
            value: components["schemas"]["Json"];
            hint: string;
            /** @enum {string} */
            severity: "error" | "warning";
            /** @default false */
            missing: boolean;
            line: number | null;
            column: string | null;
        };
        /** @description Why detection proposes something. pointer: JSON pointer into the reading. */
        ReadingReason: {
            pointer: string;
            text: string;
        };
        /** @description How a file of text is read (docs/data-sets.md). columns: one for each column of the file, in its order. */
        ReadingShape: {
            /** @enum {string} */
            delimiter: "," | ";" | "\t" | "|";
            /** @enum {string} */
            decimal: "." | ",";
            /** @enum {string} */
            thousands: "" | "." | "," | " " | "'";
            nulls: string[];
            header: boolean;
            /** @enum {string} */
            bad_cells: "refuse" | "null";
            /** @enum {string} */
            missing: "refuse" | "skip_row";
            columns: components["schemas"]["ReadColumnShape"][];
        };
        /**
         * @description What a reading makes of the beginning of a file. rows: rows looked at. missing, bad: cells without a value and cells of another type,
         *     by column. written, read: the first rows as the file and as the data set has them; a cell without a value is null in `read`.
         */
        UploadPreview: {
            reading: components["schemas"]["ReadingShape"];
            reasons: components["schemas"]["ReadingReason"][];
            problems: components["schemas"]["ReadingProblem"][];
            rows: number;
            missing: number[];
            bad: number[];
            written: string[][];
            read: components["schemas"]["Json"][][];
        };
        /**
         * @description A data set with a preview of its first rows, each a mapping from column names to values.
         *
         *     reading: how the file was read; null for a Parquet file. hash: of the uploaded bytes and the reading. Both, and counts, are null for a
         *     data set uploaded before readings were kept.
         */
        DatasetDetail: {
            id: string;
            name: string;
            rows: number;
            bytes: number;
            columns: components["schemas"]["DatasetColumn"][];
            timestamps: string[];
            /** Format: date-time */
            created_at: string;
            preview: {
                [key: string]: components["schemas"]["Json"];
            }[];
            reading: components["schemas"]["ReadingShape"] | null;
            counts: components["schemas"]["ReadCounts"] | null;
            hash: string | null;
        };
        /** @description What a reading did not simply take over. rows: of the file. missing, bad: cells by column. */
        ReadCounts: {
            rows: number;
            rows_skipped: number;
            missing: {
                [key: string]: number;
            };
            bad: {
                [key: string]: number;
            };
        };
        /** @description Error response. detail: one sentence. problems: the individual problems, if any. */
        Refusal: {
            detail: string;
            problems: components["schemas"]["Problem"][];
        };
        EndMessage: {
            /** @constant */
            type: "end";
        };
        /** @description at_s: Unix time at which the worker sent live frames. */
        FramesMessage: {
            /** @constant */
            type: "frames";
            frames: components["schemas"]["Frame"][];
            at_s?: number;
        };
        PongMessage: {
            /** @constant */
            type: "pong";
        };
        StateMessage: {
            /** @constant */
            type: "state";
            run: components["schemas"]["RunShape"];
        };
        RunMessage: components["schemas"]["FramesMessage"] | components["schemas"]["StateMessage"] | components["schemas"]["EndMessage"] | components["schemas"]["PongMessage"];
        AnalysesMessage: {
            /** @constant */
            type: "analyses";
            analyses: components["schemas"]["SparkJobShape"][];
        };
        CalibrationsMessage: {
            /** @constant */
            type: "calibrations";
            calibrations: components["schemas"]["CalibrationJobShape"][];
        };
        /** @description An experiment that was saved. */
        ExperimentNews: {
            id: string;
            name: string;
            saved: components["schemas"]["SavedShape"];
        };
        /** @description Experiments that were saved. */
        ExperimentsMessage: {
            /** @constant */
            type: "experiments";
            experiments: components["schemas"]["ExperimentNews"][];
        };
        LearningJobsMessage: {
            /** @constant */
            type: "learning_jobs";
            learning_jobs: components["schemas"]["LearningJobShape"][];
        };
        /** @description Lists of runs or their tags may have changed. */
        ListsMessage: {
            /** @constant */
            type: "lists";
        };
        /** @description editor: the name that the page has given itself. */
        OpenPage: {
            name: string;
            editor: string;
        };
        /** @description Who has an experiment open. id: of the experiment. */
        PresenceShape: {
            id: string;
            pages: components["schemas"]["OpenPage"][];
        };
        /** @description Who has experiments open now. */
        PresencesMessage: {
            /** @constant */
            type: "presences";
            presences: components["schemas"]["PresenceShape"][];
        };
        QuestionsMessage: {
            /** @constant */
            type: "questions";
            questions: components["schemas"]["WaterfallsShape"][];
        };
        /** @description Changes are sent from now on; earlier ones are not. */
        ReadyMessage: {
            /** @constant */
            type: "ready";
        };
        ReproductionsMessage: {
            /** @constant */
            type: "reproductions";
            reproductions: components["schemas"]["ReproductionShape"][];
        };
        RunsMessage: {
            /** @constant */
            type: "runs";
            runs: components["schemas"]["RunShape"][];
        };
        SparkRunsMessage: {
            /** @constant */
            type: "spark_runs";
            spark_runs: components["schemas"]["SparkRunShape"][];
        };
        StudiesMessage: {
            /** @constant */
            type: "studies";
            studies: components["schemas"]["StudyShape"][];
        };
        NewsMessage: components["schemas"]["ReadyMessage"] | components["schemas"]["RunsMessage"] | components["schemas"]["ExperimentsMessage"] | components["schemas"]["PresencesMessage"] | components["schemas"]["QuestionsMessage"] | components["schemas"]["StudiesMessage"] | components["schemas"]["ReproductionsMessage"] | components["schemas"]["AnalysesMessage"] | components["schemas"]["LearningJobsMessage"] | components["schemas"]["SparkRunsMessage"] | components["schemas"]["CalibrationsMessage"] | components["schemas"]["ListsMessage"] | components["schemas"]["PongMessage"];
        /** @description code: of the second factor, if the person has one. */
        Credentials: {
            name: string;
            password: string;
            /** @default  */
            code?: string;
        };
        /** @description connect: sign in to the account that is signed in now, from now on. */
        SignOn: {
            /** @default false */
            connect?: boolean;
        };
        Code: {
            code: string;
        };
        NewPassword: {
            password: string;
            /** @default  */
            current?: string;
        };
        /** @description lab: its id, one of the labs that /api/me lists. */
        ChosenLab: {
            lab: number;
        };
        InvitationText: {
            token: string;
        };
        NewAccount: {
            name: string;
            password: string;
            token: string;
        };
        NewRole: {
            /** @enum {string} */
            role: "viewer" | "member" | "owner";
        };
        NewInvitation: {
            /**
             * @default member
             * @enum {string}
             */
            role?: "viewer" | "member" | "owner";
            /** @default 7 */
            expires_in_days?: number;
        };
        /** @description null: no limit. */
        Limit: {
            limit_bytes: number | null;
        };
        /** @description Either days or bytes. kept_tags: names of tags; null for any tag, empty for none. Data sets have no tags. */
        NewRule: {
            /** @enum {string} */
            what: "frames" | "runs" | "datasets";
            days?: number | null;
            bytes?: number | null;
            kept_tags?: string[] | null;
        };
        ChangedRule: {
            /** @enum {string} */
            what: "frames" | "runs" | "datasets";
            days?: number | null;
            bytes?: number | null;
            kept_tags?: string[] | null;
            /** @default false */
            paused?: boolean;
        };
        /** @description null: no limit. requests: a page that is open sends some in a minute, so there are at least 60. */
        NewLimits: {
            running: number | null;
            waiting: number | null;
            stored_bytes: number | null;
            requests: number | null;
        };
        LogQuery: {
            /** @default  */
            person?: string;
            /** @default  */
            action?: string;
            /** @default 50 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        NewToken: {
            name: string;
            /** @enum {string} */
            scope: "metrics" | "read" | "write" | "admin";
            expires_in_days?: number | null;
        };
        Validate: {
            document: {
                [key: string]: unknown;
            };
        };
        Previewed: {
            document: {
                [key: string]: unknown;
            };
            /**
             * @description Number of equal parts into which the horizon is divided.
             * @default 240
             */
            points?: number;
        };
        /** @description operator: a similarity join. selectivity: share of all pairs that shall match. */
        Selectivity: {
            document: {
                [key: string]: unknown;
            };
            operator: string;
            selectivity: number;
        };
        PythonCode: {
            code: string;
        };
        /** @description models: a name; default: the first. pinned: hosts by operator id. forbidden: hosts that nothing runs on, but what is pinned there. */
        AdviceQuestion: {
            document: {
                [key: string]: unknown;
            };
            /**
             * @default processing_latency
             * @enum {string}
             */
            goal?: "throughput" | "processing_latency" | "end_to_end_latency";
            /** @default  */
            models?: string;
            pinned?: {
                [key: string]: string;
            };
            forbidden?: string[];
        };
        NewExperiment: {
            document: {
                [key: string]: unknown;
            };
            parent?: string | null;
            /**
             * @description A name that the open page gave itself.
             * @default
             */
            editor?: string;
        };
        Edit: {
            version: number;
            document: {
                [key: string]: unknown;
            };
            /**
             * @description A name that the open page gave itself.
             * @default
             */
            editor?: string;
        };
        Start: {
            version?: number | null;
            seed?: number | null;
            /** @description maximum virtual seconds per wall-clock second, 0.1 to 1,000; null: as fast as possible */
            pace?: number | null;
        };
        Limits: {
            /** @default 50 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        Back: {
            version: number;
            /**
             * @description A name that the open page gave itself.
             * @default
             */
            editor?: string;
        };
        /**
         * @description by: one or two fields. measure: metrics, or took. sort: `group`, `runs`, or `median:`, `min:`, `max:` or `count:` and a measure; a
         *     leading minus reverses it. Groups without the value come last.
         */
        GroupQuery: {
            state?: components["schemas"]["RunState"] | null;
            experiment?: string | null;
            study?: string | null;
            /** @default false */
            of_studies?: boolean;
            /** @default  */
            tag?: string;
            /** @default  */
            search?: string;
            by: string[];
            /** @default [] */
            measure?: string[];
            /** @default group */
            sort?: string;
            /** @default 100 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        PointQuery: {
            state?: components["schemas"]["RunState"] | null;
            experiment?: string | null;
            study?: string | null;
            /** @default false */
            of_studies?: boolean;
            /** @default  */
            tag?: string;
            /** @default  */
            search?: string;
            field: string[];
            /** @default 5000 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        /** @description value: further fields whose values the page needs, such as parameters of the document. */
        ListQuery: {
            state?: components["schemas"]["RunState"] | null;
            experiment?: string | null;
            study?: string | null;
            /** @default false */
            of_studies?: boolean;
            /** @default  */
            tag?: string;
            /** @default  */
            search?: string;
            /** @default -number */
            sort?: string;
            /** @default 50 */
            limit?: number;
            /** @default 0 */
            offset?: number;
            /** @default [] */
            value?: string[];
        };
        /** @description search: a space stands for an underscore. varying: of the parameters only those that differ between runs. */
        FieldQuery: {
            /** @default  */
            search?: string;
            /** @default false */
            varying?: boolean;
        };
        /** @description One action on many runs; `tag`: the tag, for actions that need one. */
        Together: {
            /** @enum {string} */
            action: "delete" | "restore" | "cancel" | "tag" | "untag";
            ids: string[];
            tag?: string | null;
        };
        /** @description was: the notes as they were when editing began. */
        Notes: {
            text: string;
            was: string;
        };
        Again: {
            seed?: number | null;
            /** @description maximum virtual seconds per wall-clock second, 0.1 to 1,000; null: as fast as possible */
            pace?: number | null;
        };
        /**
         * @description Clicks on recent impressions, on average one per `every` impressions.
         *
         *     With an impression rate `every` times the click rate, the two streams stay aligned in time.
         */
        AdClick: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of ads.
             * @default 600000
             */
            ads?: number;
            /**
             * @description Number of distinct queries.
             * @default 20000000
             */
            queries?: number;
            /**
             * @description Exponent of the Zipf distributions of ads and queries.
             * @default 1.1
             */
            exponent?: number;
            /**
             * @description Number of users.
             * @default 1000000
             */
            users?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "ad_click";
            /**
             * @description Average number of impressions per click; 28 is a click-through rate of 3.6 percent.
             * @default 28
             */
            every?: number;
            /**
             * @description Largest distance of a click's impression from the newest one, in impressions.
             * @default 1000
             */
            back?: number;
        };
        /** @description Ads shown: up to three on a page (`depth`), this one at `position`. */
        AdImpression: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of ads.
             * @default 600000
             */
            ads?: number;
            /**
             * @description Number of distinct queries.
             * @default 20000000
             */
            queries?: number;
            /**
             * @description Exponent of the Zipf distributions of ads and queries.
             * @default 1.1
             */
            exponent?: number;
            /**
             * @description Number of users.
             * @default 1000000
             */
            users?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "ad_impression";
        };
        /** @description Advertisements: a user is shown a gem pack. */
        AdShown: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of gem packs.
             * @default 64
             */
            gem_packs?: number;
            /**
             * @description Number of users, all equally frequent.
             * @default 1000
             */
            users?: number;
            /**
             * @description How often each gem pack occurs.
             * @default {
             *       "kind": "normal"
             *     }
             */
            skew?: components["schemas"]["UniformSkew"] | components["schemas"]["HotSkew"] | components["schemas"]["ZipfSkew"] | components["schemas"]["NormalSkew"] | components["schemas"]["RoundedSkew"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "ad_shown";
        };
        /** @description Settings from a time on. Those that are not given stay as they are. */
        Adjustment: {
            /** @description Virtual time, before the end of the run. */
            at_s: number;
            /** @description Time between two commits. */
            commit_s?: number | null;
            /** @description A log is cleaned when more of its closed bytes are dirty. */
            dirty_ratio?: number | null;
            /** @description Time after which the next record closes a segment. */
            segment_ms?: number | null;
            /** @description How long a tombstone stays for readers that are behind. */
            delete_retention_ms?: number | null;
            /** @description Sleep of a cleaner's thread that finds no log due. */
            backoff_s?: number | null;
            /** @description Threads that clean. */
            threads?: number | null;
            /** @description Dirty entries that leave a cache together. */
            batch?: number | null;
        };
        /** @description Once, at a given time of the run. */
        At: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "at";
            /** @description Virtual time, before the run's horizon. */
            at_s: number;
        };
        /** @description Repeatedly, with exponentially distributed gaps between the end of one fault and the start of the next, from the workload's seed. */
        AtRandom: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "random";
            /** @description Mean time from the end of one fault to the start of the next. */
            mean_s: number;
        };
        /** @description Moves at a given time, whatever the policy decides otherwise. Without moves, it plans at that time. */
        BalancingOrder: {
            /** @description Virtual time, before the end of the run's horizon. */
            at_s: number;
            /**
             * @description The similarity join, if the query has several.
             * @default
             */
            join?: string;
            /**
             * @description Worksets that move. None: plan.
             * @default []
             */
            moves?: components["schemas"]["WorksetMove"][];
        };
        /** @description A share of the vectors whose directions lie within a narrow band. */
        Band: {
            /**
             * @description The middle of the band.
             * @default 0.25
             */
            turn?: number;
            /**
             * @description Directions are uniform in it.
             * @default 0.01
             */
            width?: number;
            /**
             * @description Share of the vectors that lie in it.
             * @default 0.1
             */
            share?: number;
        };
        /** @description The same rate throughout the run. */
        ConstantRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "constant";
            /**
             * @description Records per second of virtual time.
             * @default 1000
             */
            per_s?: number;
        };
        /**
         * @description mean + amplitude x cos(2 pi (t - phase) / period): a smooth daily cycle with its first peak at the phase.
         *
         *     With a step, the rate is held for that long at its value at the step's start, rounded down to whole records per second. Each step can
         *     have noise, uniform from -noise to noise, drawn by the algorithm of `java.util.Random` as in the autoscalers' load. Never below zero.
         */
        CosineRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "cosine";
            /**
             * @description Mean rate over a period.
             * @default 1000
             */
            mean_per_s?: number;
            /**
             * @description Largest deviation from the mean.
             * @default 500
             */
            amplitude_per_s?: number;
            /**
             * @description Time from peak to peak.
             * @default 60
             */
            period_s?: number;
            /**
             * @description Time of the first peak.
             * @default 0
             */
            phase_s?: number;
            /**
             * @description How long each rate is held. 0: a smooth curve.
             * @default 0
             */
            step_s?: number;
            /**
             * @description Largest random deviation of a step from the curve.
             * @default 0
             */
            noise_per_s?: number;
            /**
             * @description Seed of the pattern alone. The load is the same for all seeds of the run.
             * @default 1066
             */
            seed?: number;
        };
        /** @description A rate that starts near the top and falls, with occasional rises. Each step adds between -top / 21 and top / 28. */
        DecreasingRate: {
            /**
             * @description How long each rate is held.
             * @default 60
             */
            step_s?: number;
            /**
             * @description Seed of the pattern alone. The load is the same for all seeds of the run.
             * @default 1066
             */
            seed?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "decreasing";
            /**
             * @description Rate near which the pattern starts.
             * @default 10000
             */
            top_per_s?: number;
        };
        /** @description Links have a higher latency. Overlapping delays add up. A link never reorders. */
        Delay: {
            /** @description Hosts on one side. The name of an entry with a count stands for all its machines. */
            sources: string[];
            /** @description Hosts on the other side, named in the same way. Default: all other hosts. */
            targets?: string[] | null;
            /**
             * @description Also affects the links in the opposite direction.
             * @default true
             */
            both_ways?: boolean;
            /** @description Virtual time at which the fault begins. */
            from_s: number;
            /** @description Virtual time at which the fault ends. Default: never. */
            to_s?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "delay";
            /** @description Latency added to the link's own. */
            added_ms: number;
        };
        /**
         * @description The disk of the host fails, so its processes crash, and restart with an empty one: a local store is filled from its changelog alone.
         *     For all else this is a loss of the host.
         */
        DiskLoss: {
            /** @description Name of the affected host. */
            host: string;
            /** @description Once, or by a random process. */
            when: components["schemas"]["At"] | components["schemas"]["AtRandom"] | components["schemas"]["InCommit"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "disk_loss";
            /**
             * @description Until its processes are up.
             * @default 10
             */
            restart_after_s?: number;
        };
        /**
         * @description Every operator is a thread, and the operating system shares the cores of a pool fairly among those that have work, as under Flink. If
         *     they are more than the cores, switching takes a share of these.
         */
        FairThreads: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "default";
            /**
             * @description Share of the cores lost to switching between threads. The default is assumed.
             * @default 0.05
             */
            tax?: number;
        };
        /** @description The rows of an uploaded file, in timestamp order. */
        FileStream: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "file";
            /** @description Name of the uploaded data set. */
            dataset: string;
            /** @description The column that holds the event time. */
            timestamp: string;
            /** @description Columns to read, in this order. Default: all columns. */
            columns?: string[] | null;
        };
        /** @description The query whose record came first runs first. What has been begun is finished before. */
        FirstComeFirstServed: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "fcfs";
        };
        Forked: {
            /** @description virtual time up to which the fork equals its parent */
            at_s: number;
            /** @description multiplier of all source rates from then on */
            load?: number | null;
            /** @description rate patterns of sources from then on, by operator */
            rates?: {
                [key: string]: components["schemas"]["ConstantRate"] | components["schemas"]["StepsRate"] | components["schemas"]["RampRate"] | components["schemas"]["CosineRate"] | components["schemas"]["SpikesRate"] | components["schemas"]["IncreasingRate"] | components["schemas"]["DecreasingRate"] | components["schemas"]["RandomWalkRate"] | components["schemas"]["SwitchedRate"];
            };
            /**
             * @description additional faults, at that time or later
             * @default []
             */
            faults?: (components["schemas"]["Partition"] | components["schemas"]["Delay"] | components["schemas"]["Pause"] | components["schemas"]["SlowHost"] | components["schemas"]["HostLoss"] | components["schemas"]["ProcessCrash"] | components["schemas"]["DiskLoss"])[];
            /**
             * @description additional rescales, at that time or later
             * @default []
             */
            rescales?: components["schemas"]["Order"][];
            /**
             * @description additional moves to other hosts, at that time or later
             * @default []
             */
            moves?: components["schemas"]["Move"][];
            /** @description scheduling policy from then on */
            scheduling?: (components["schemas"]["NoScheduling"] | components["schemas"]["Klink"] | components["schemas"]["FirstComeFirstServed"] | components["schemas"]["RoundRobin"] | components["schemas"]["HighestRate"] | components["schemas"]["ShortestFirst"] | components["schemas"]["StreamBox"] | components["schemas"]["FairThreads"] | components["schemas"]["SwitchedScheduling"]) | null;
            /** @description records of sources from then on, by operator */
            streams?: {
                [key: string]: components["schemas"]["NexmarkPerson"] | components["schemas"]["NexmarkAuction"] | components["schemas"]["NexmarkBid"] | components["schemas"]["YahooEvent"] | components["schemas"]["AdImpression"] | components["schemas"]["AdClick"] | components["schemas"]["Purchase"] | components["schemas"]["AdShown"] | components["schemas"]["LinearRoadReport"] | components["schemas"]["TaxiTrip"] | components["schemas"]["SmartPlugReading"] | components["schemas"]["SensorReading"] | components["schemas"]["GraphLink"] | components["schemas"]["GraphSource"] | components["schemas"]["GraphDeletion"] | components["schemas"]["Synthetic"] | components["schemas"]["Vectors"] | components["schemas"]["FileStream"] | components["schemas"]["SwitchedStream"];
            };
            /**
             * @description additional orders to move worksets, at that time or later
             * @default []
             */
            balancing?: components["schemas"]["BalancingOrder"][];
            /**
             * @description additional changes of settings of local stores, at that time or later
             * @default []
             */
            adjustments?: components["schemas"]["Adjustment"][];
            /** @description maximum virtual seconds per wall-clock second, 0.1 to 1,000; null: as fast as possible */
            pace?: number | null;
        };
        /** @description Deleted links. A link that ends where it starts stands for the deletion of that source. */
        GraphDeletion: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of nodes, numbered from 0.
             * @default 1000000
             */
            nodes?: number;
            /**
             * @description Share of the links that start at a live source.
             * @default 0.1
             */
            at_sources?: number;
            /**
             * @description Share of the links that start where a live link ends.
             * @default 0.2
             */
            at_ends?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "graph_deletion";
        };
        /** @description Added links, from a start node to an end node. */
        GraphLink: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of nodes, numbered from 0.
             * @default 1000000
             */
            nodes?: number;
            /**
             * @description Share of the links that start at a live source.
             * @default 0.1
             */
            at_sources?: number;
            /**
             * @description Share of the links that start where a live link ends.
             * @default 0.2
             */
            at_ends?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "graph_link";
        };
        /**
         * @description Added sources, each as an empty path from the source to itself.
         *
         *     A path lists the nodes on it: from `origin` by node1, node2, .. to `reachable`, the last of them; unused fields are -1. hops is its
         *     number of links: 0 for a new source. Queries extend paths up to `path_max` links.
         */
        GraphSource: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of nodes, numbered from 0.
             * @default 1000000
             */
            nodes?: number;
            /**
             * @description Share of the links that start at a live source.
             * @default 0.1
             */
            at_sources?: number;
            /**
             * @description Share of the links that start where a live link ends.
             * @default 0.2
             */
            at_ends?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "graph_source";
            /**
             * @description Largest number of links in a path.
             * @default 12
             */
            path_max?: number;
        };
        /**
         * @description Paths that give the most output per CPU time run first. Rates within 5 % count as equal; then the query with the oldest item comes
         *     first.
         */
        HighestRate: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "highest_rate";
        };
        /**
         * @description The host is lost with everything in its memory and on its disk: services in progress, queues, state, unsent records. Records sent to
         *     it are lost as well. If it restarts, its instances start empty, and its sources continue after the last record they read; with
         *     checkpoints or changelogs they recover.
         */
        HostLoss: {
            /** @description Name of the affected host. */
            host: string;
            /** @description Once, or by a random process. */
            when: components["schemas"]["At"] | components["schemas"]["AtRandom"] | components["schemas"]["InCommit"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "host_loss";
            /** @description Downtime of the host. Default: permanent. */
            restart_after_s?: number | null;
        };
        /** @description A share of the records goes to the hot keys, which are the first ones; the rest is uniform over all keys. */
        HotSkew: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "hot";
            /**
             * @description Share of the records that go to the hot keys; 1 sends all records to them.
             * @default 0.2
             */
            share?: number;
            /**
             * @description Number of hot keys.
             * @default 1
             */
            keys?: number;
        };
        /** @description Once, amid a commit of the host's local stores: between two of its steps, which are not atomic. */
        InCommit: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "in_commit";
            /**
             * @description Which commit of the host, from 1 on.
             * @default 1
             */
            commit?: number;
            /**
             * @description The step that does not happen any more. flush: stores are written out; offset: the input positions become durable.
             * @default offset
             * @enum {string}
             */
            before?: "flush" | "offset";
        };
        /** @description A rate that starts near zero and grows, with occasional drops. Each step adds between -top / 30 and top / 22. */
        IncreasingRate: {
            /**
             * @description How long each rate is held.
             * @default 60
             */
            step_s?: number;
            /**
             * @description Seed of the pattern alone. The load is the same for all seeds of the run.
             * @default 1066
             */
            seed?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "increasing";
            /**
             * @description Rate reached after about 140 steps.
             * @default 10000
             */
            top_per_s?: number;
        };
        /**
         * @description The query with the least slack runs first: the time until the watermark that closes its next window is expected, less the time that
         *     its waiting records need. When memory fills, it first serves what frees the most of it.
         */
        Klink: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "klink";
            /**
             * @description Confidence f of the interval in which the next watermark is expected.
             * @default 0.95
             */
            confidence?: number;
            /**
             * @description Number m of past epochs whose delays are averaged.
             * @default 400
             */
            history?: number;
            /**
             * @description What predicts the next watermark: mean and variance of past delays, or a linear regression over the last delay and the last epoch's mean, which gives a point that hits within one cycle.
             * @default history
             * @enum {string}
             */
            estimator?: "history" | "regression";
            /**
             * @description That of a single delay, or that of the mean of the history, as in the source's Eq. 3.6, which is far too small.
             * @default event
             * @enum {string}
             */
            variance?: "event" | "printed";
            /**
             * @description Whether the probabilities of the bins of slack are scaled to a sum of 1.
             * @default false
             */
            normalise?: boolean;
            /** @description Share b of a host's memory budget from which it serves first what frees the most memory, 0.8 in the source. Null: never. */
            memory_threshold?: number | null;
            /**
             * @description Whether each host tells those downstream of its sources, and those upstream of what waits, in each cycle.
             * @default true
             */
            forwarding?: boolean;
            /**
             * @description CPU time per bin of expected slack. The default is assumed.
             * @default 25
             */
            bin_us?: number;
        };
        /**
         * @description Position reports of vehicles on expressways of 100 one-mile segments in both directions.
         *
         *     Vehicles on the road report in turn, so a report period is `vehicles` records: one second at as many records per second. Per period, a
         *     vehicle covers the distance of 30 seconds on the road (the benchmark's period). It enters anywhere on lane 0, drives on lanes 1 to 3 at
         *     its own speed, and leaves on lane 4; in a jam it slows down. Speeds are whole mph from 0 to 100, positions are feet from the road's
         *     start. In an accident, two vehicles report the same position at speed 0 four times in a row.
         */
        LinearRoadReport: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "linear_road_report";
            /**
             * @description Number of expressways.
             * @default 1
             */
            xways?: number;
            /**
             * @description Vehicles on the road at a time, on all expressways together.
             * @default 1000
             */
            vehicles?: number;
            /**
             * @description Number of reports after which a vehicle leaves.
             * @default 60
             */
            trip_reports?: number;
            /**
             * @description Share of ten-segment stretches that are jammed, for 20 report periods each.
             * @default 0.2
             */
            jam_ratio?: number;
            /**
             * @description Number of report periods per accident on each expressway.
             * @default 20
             */
            accident_every?: number;
        };
        /** @description Operators that move at a given time of the run. */
        Move: {
            /** @description Virtual time, before the end of the run's horizon. */
            at_s: number;
            /** @description New host by operator. Other operators stay. */
            hosts: {
                [key: string]: string;
            };
        };
        /** @description Opened auctions, 500 bytes each. A hot auction's seller is the hot person. */
        NexmarkAuction: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Share of records that refer to a single hot seller, bidder or auction. 0: uniform. NexMark's ratio r is 1 - 1/r here.
             * @default 0
             */
            hot_ratio?: number;
            /**
             * @description Number of newest people that records refer to.
             * @default 1000
             */
            active_people?: number;
            /**
             * @description Number of people that records refer to before they register.
             * @default 10
             */
            people_ahead?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "nexmark_auction";
        };
        /** @description Bids on auctions, 100 bytes each. Bidder and auction are hot independently of each other. */
        NexmarkBid: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Share of records that refer to a single hot seller, bidder or auction. 0: uniform. NexMark's ratio r is 1 - 1/r here.
             * @default 0
             */
            hot_ratio?: number;
            /**
             * @description Number of newest people that records refer to.
             * @default 1000
             */
            active_people?: number;
            /**
             * @description Number of people that records refer to before they register.
             * @default 10
             */
            people_ahead?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "nexmark_bid";
            /**
             * @description Number of older auctions that get bids, besides the newest one.
             * @default 100
             */
            recent_auctions?: number;
            /**
             * @description Number of auctions that get bids before they open.
             * @default 10
             */
            auctions_ahead?: number;
        };
        /** @description People who register at the auction site, 200 bytes each. Their state is one of AZ, CA, ID, OR, WA, WY. */
        NexmarkPerson: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Share of records that refer to a single hot seller, bidder or auction. 0: uniform. NexMark's ratio r is 1 - 1/r here.
             * @default 0
             */
            hot_ratio?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "nexmark_person";
        };
        /** @description Cores serve what has waited longest, or as their processor kind says. */
        NoScheduling: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "none";
        };
        /** @description Normal distribution around the middle key, rounded and truncated at both ends. Its standard deviation is a sixth of the keys. */
        NormalSkew: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "normal";
        };
        /** @description A rescale at a given time of the run. */
        Order: {
            /** @description Virtual time, before the end of the run's horizon. */
            at_s: number;
            /** @description New parallelism by operator. Other operators keep theirs. */
            parallelism: {
                [key: string]: number;
            };
        };
        /** @description Links carry nothing. Messages wait at the sender and leave in order when the partition ends. Nothing is lost, as with TCP. */
        Partition: {
            /** @description Hosts on one side. The name of an entry with a count stands for all its machines. */
            sources: string[];
            /** @description Hosts on the other side, named in the same way. Default: all other hosts. */
            targets?: string[] | null;
            /**
             * @description Also affects the links in the opposite direction.
             * @default true
             */
            both_ways?: boolean;
            /** @description Virtual time at which the fault begins. */
            from_s: number;
            /** @description Virtual time at which the fault ends. Default: never. */
            to_s?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "partition";
        };
        /**
         * @description The host stalls: it serves and sends nothing, and arriving messages wait. Services in progress take longer by the duration of the
         *     pause. Examples: a stop-the-world garbage collection, a suspended machine.
         */
        Pause: {
            /** @description Name of the affected host. */
            host: string;
            /** @description Once, or by a random process. */
            when: components["schemas"]["At"] | components["schemas"]["AtRandom"] | components["schemas"]["InCommit"];
            /** @description Duration of the fault. */
            for_ms: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "pause";
        };
        /**
         * @description The processes of the host crash with everything in their memory, and restart. The disk survives: a local store on it is used again,
         *     as far as the last commit. For all else this is a loss of the host.
         */
        ProcessCrash: {
            /** @description Name of the affected host. */
            host: string;
            /** @description Once, or by a random process. */
            when: components["schemas"]["At"] | components["schemas"]["AtRandom"] | components["schemas"]["InCommit"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "process_crash";
            /**
             * @description Until its processes are up.
             * @default 10
             */
            restart_after_s?: number;
        };
        /** @description Purchases: a user buys a gem pack at a price. */
        Purchase: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description Number of gem packs.
             * @default 64
             */
            gem_packs?: number;
            /**
             * @description Number of users, all equally frequent.
             * @default 1000
             */
            users?: number;
            /**
             * @description How often each gem pack occurs.
             * @default {
             *       "kind": "normal"
             *     }
             */
            skew?: components["schemas"]["UniformSkew"] | components["schemas"]["HotSkew"] | components["schemas"]["ZipfSkew"] | components["schemas"]["NormalSkew"] | components["schemas"]["RoundedSkew"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "purchase";
            /**
             * @description A random whole number from 1 to 100 (uniform), or the gem pack's number, from 1 (gem_pack).
             * @default uniform
             * @enum {string}
             */
            price?: "uniform" | "gem_pack";
        };
        /** @description A rate that changes linearly from one value to another, and is constant before and after. */
        RampRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "ramp";
            /**
             * @description Rate until the ramp starts.
             * @default 0
             */
            from_per_s?: number;
            /**
             * @description Rate after the ramp's end.
             * @default 1000
             */
            to_per_s?: number;
            /**
             * @description Start of the ramp.
             * @default 0
             */
            start_s?: number;
            /**
             * @description End of the ramp.
             * @default 30
             */
            end_s?: number;
        };
        /** @description A rate that changes by a random amount between -change and change at each step, within two bounds. */
        RandomWalkRate: {
            /**
             * @description How long each rate is held.
             * @default 60
             */
            step_s?: number;
            /**
             * @description Seed of the pattern alone. The load is the same for all seeds of the run.
             * @default 1066
             */
            seed?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "random_walk";
            /**
             * @description Rate of the first step.
             * @default 5000
             */
            start_per_s?: number;
            /**
             * @description Largest change from one step to the next.
             * @default 2000
             */
            change_per_s?: number;
            /**
             * @description Lower bound of the rate.
             * @default 0
             */
            min_per_s?: number;
            /**
             * @description Upper bound of the rate.
             * @default 10000
             */
            max_per_s?: number;
        };
        /** @description Queries with waiting records take turns of one cycle. Inside a query, operators downstream run first. */
        RoundRobin: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "round_robin";
        };
        /** @description Uniform, except that the first and last key occur half as often, as when a uniform number is rounded. */
        RoundedSkew: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "rounded";
        };
        /**
         * @description Temperature, humidity, light and voltage from the motes of a laboratory, which report in random order.
         *
         *     The temperature in degrees Celsius follows a daily cosine from 15 to 35, warmest at noon, with normal noise. A few readings are spikes
         *     at least 10 degrees above. A missing reading has -1 in all its values. Humidity is high when it is cold, light is high by day.
         */
        SensorReading: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "sensor_reading";
            /**
             * @description Number of motes, numbered from 1.
             * @default 54
             */
            motes?: number;
            /**
             * @description Length of a day in event time, starting at midnight.
             * @default 86400
             */
            day_s?: number;
            /**
             * @description Share of the readings that are temperature spikes.
             * @default 0.02
             */
            spike_ratio?: number;
            /**
             * @description Share of the readings without values.
             * @default 0.05
             */
            missing_ratio?: number;
        };
        /** @description The query with the least work that waits runs first. */
        ShortestFirst: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "srpt";
        };
        /** @description The host's cores run at a different speed. Services in progress keep their speed. */
        SlowHost: {
            /** @description Name of the affected host. */
            host: string;
            /** @description Once, or by a random process. */
            when: components["schemas"]["At"] | components["schemas"]["AtRandom"] | components["schemas"]["InCommit"];
            /** @description Duration of the fault. */
            for_ms: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "slow_host";
            /**
             * @description Multiplier of the host's speed; kept in thousandths.
             * @default 0.5
             */
            factor?: number;
        };
        /**
         * @description Loads of smart plugs, by household and house, as in the DEBS 2014 challenge. The plugs report in turn.
         *
         *     Every house has 2 to 10 households and every household 5 to 20 plugs, drawn once per run. A plug has a peak load (25 to 1200 W, plus or
         *     minus 10 W) and a switching period (ten minutes to 30 hours). In each period it is on or off with probability 1/2; when off, its load is
         *     0.
         */
        SmartPlugReading: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "smart_plug_reading";
            /**
             * @description Number of houses.
             * @default 10
             */
            houses?: number;
        };
        /**
         * @description A base rate with one spike per period: at the period's start, or at a random position drawn for each period.
         *
         *     A peak below the base gives dips.
         */
        SpikesRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "spikes";
            /**
             * @description Rate outside the spikes.
             * @default 1000
             */
            base_per_s?: number;
            /**
             * @description Rate during a spike.
             * @default 5000
             */
            peak_per_s?: number;
            /**
             * @description Length of a period with one spike.
             * @default 10
             */
            every_s?: number;
            /**
             * @description Duration of a spike.
             * @default 1
             */
            duration_s?: number;
            /**
             * @description Start of the spike in its period: at the period's start, or uniformly random.
             * @default regular
             * @enum {string}
             */
            placing?: "regular" | "random";
            /**
             * @description Seed of the pattern alone. The load is the same for all seeds of the run.
             * @default 1066
             */
            seed?: number;
        };
        Step: {
            /** @description Virtual time from which this rate applies. */
            at_s: number;
            /** @description Records per second of virtual time. */
            per_s: number;
        };
        /** @description A rate that changes abruptly at given times. There are no records before the first step. */
        StepsRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "steps";
            /** @description Times in ascending order, each with its rate. */
            steps: components["schemas"]["Step"][];
        };
        /**
         * @description The queries with the closest window deadlines hold the cores until they have processed a watermark, though cores idle meanwhile. All
         *     operators of a query must be on one host.
         */
        StreamBox: {
            /**
             * @description Time between two selections.
             * @default 120
             */
            cycle_ms?: number;
            /**
             * @description CPU time per operator and cycle for its statistics. The default is assumed.
             * @default 10
             */
            collect_us?: number;
            /**
             * @description CPU time per operator that a cycle starts or pauses. The default is assumed.
             * @default 40
             */
            switch_us?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "streambox";
        };
        /**
         * @description One pattern until a given time, another afterwards, each evaluated as if it had applied from the start. Used by forks with a
         *     different load.
         */
        SwitchedRate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "switched";
            /** @description Pattern until the switch. */
            before?: components["schemas"]["ConstantRate"] | components["schemas"]["StepsRate"] | components["schemas"]["RampRate"] | components["schemas"]["CosineRate"] | components["schemas"]["SpikesRate"] | components["schemas"]["IncreasingRate"] | components["schemas"]["DecreasingRate"] | components["schemas"]["RandomWalkRate"] | components["schemas"]["SwitchedRate"];
            /**
             * @description Virtual time of the switch.
             * @default 30
             */
            at_s?: number;
            /** @description Pattern after the switch. */
            after?: components["schemas"]["ConstantRate"] | components["schemas"]["StepsRate"] | components["schemas"]["RampRate"] | components["schemas"]["CosineRate"] | components["schemas"]["SpikesRate"] | components["schemas"]["IncreasingRate"] | components["schemas"]["DecreasingRate"] | components["schemas"]["RandomWalkRate"] | components["schemas"]["SwitchedRate"];
        };
        /**
         * @description One policy until a given time, another afterwards, each with a cycle of its own. Used by forks with another scheduler. Fair threads
         *     can only come last: once operators are threads, more of them may be in service than there are cores.
         */
        SwitchedScheduling: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "switched";
            /**
             * @description Policy until the switch.
             * @default {
             *       "kind": "none"
             *     }
             */
            before?: components["schemas"]["NoScheduling"] | components["schemas"]["Klink"] | components["schemas"]["FirstComeFirstServed"] | components["schemas"]["RoundRobin"] | components["schemas"]["HighestRate"] | components["schemas"]["ShortestFirst"] | components["schemas"]["StreamBox"] | components["schemas"]["FairThreads"] | components["schemas"]["SwitchedScheduling"];
            /**
             * @description Virtual time of the switch.
             * @default 30
             */
            at_s?: number;
            /**
             * @description Policy after the switch.
             * @default {
             *       "kind": "none"
             *     }
             */
            after?: components["schemas"]["NoScheduling"] | components["schemas"]["Klink"] | components["schemas"]["FirstComeFirstServed"] | components["schemas"]["RoundRobin"] | components["schemas"]["HighestRate"] | components["schemas"]["ShortestFirst"] | components["schemas"]["StreamBox"] | components["schemas"]["FairThreads"] | components["schemas"]["SwitchedScheduling"];
        };
        /**
         * @description Records of one kind until a given time, of another from then on: data that drift. Both have the same fields. An uploaded file cannot
         *     be one of them.
         */
        SwitchedStream: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "switched";
            /**
             * @description Records whose event time is before the switch.
             * @default {
             *       "record_bytes": 0,
             *       "kind": "vectors",
             *       "dimensions": 2,
             *       "law": "uniform"
             *     }
             */
            before?: components["schemas"]["NexmarkPerson"] | components["schemas"]["NexmarkAuction"] | components["schemas"]["NexmarkBid"] | components["schemas"]["YahooEvent"] | components["schemas"]["AdImpression"] | components["schemas"]["AdClick"] | components["schemas"]["Purchase"] | components["schemas"]["AdShown"] | components["schemas"]["LinearRoadReport"] | components["schemas"]["TaxiTrip"] | components["schemas"]["SmartPlugReading"] | components["schemas"]["SensorReading"] | components["schemas"]["GraphLink"] | components["schemas"]["GraphSource"] | components["schemas"]["GraphDeletion"] | components["schemas"]["Synthetic"] | components["schemas"]["Vectors"] | components["schemas"]["FileStream"] | components["schemas"]["SwitchedStream"];
            /**
             * @description Event time of the switch, from the start of the query.
             * @default 30
             */
            at_s?: number;
            /**
             * @description Records from the switch on.
             * @default {
             *       "record_bytes": 0,
             *       "kind": "vectors",
             *       "dimensions": 2,
             *       "law": "gaussian"
             *     }
             */
            after?: components["schemas"]["NexmarkPerson"] | components["schemas"]["NexmarkAuction"] | components["schemas"]["NexmarkBid"] | components["schemas"]["YahooEvent"] | components["schemas"]["AdImpression"] | components["schemas"]["AdClick"] | components["schemas"]["Purchase"] | components["schemas"]["AdShown"] | components["schemas"]["LinearRoadReport"] | components["schemas"]["TaxiTrip"] | components["schemas"]["SmartPlugReading"] | components["schemas"]["SensorReading"] | components["schemas"]["GraphLink"] | components["schemas"]["GraphSource"] | components["schemas"]["GraphDeletion"] | components["schemas"]["Synthetic"] | components["schemas"]["Vectors"] | components["schemas"]["FileStream"] | components["schemas"]["SwitchedStream"];
        };
        /**
         * @description A key, the record's number, and configurable numbers of uniform integers, fractions (two decimals) and strings (one hex digit).
         *
         *     With keys in turn, record n has key n mod keys; otherwise keys are drawn. The fields are key, number, i1, i2, .., f1, .., s1, .., time.
         */
        Synthetic: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "synthetic";
            /**
             * @description Number of keys, numbered from 0.
             * @default 1000
             */
            keys?: number;
            /**
             * @description Cycle through the keys. If off, draw keys by their skew.
             * @default true
             */
            in_turn?: boolean;
            /**
             * @description Key distribution if keys are not in turn.
             * @default {
             *       "kind": "uniform"
             *     }
             */
            skew?: components["schemas"]["UniformSkew"] | components["schemas"]["HotSkew"] | components["schemas"]["ZipfSkew"] | components["schemas"]["NormalSkew"] | components["schemas"]["RoundedSkew"];
            /**
             * @description Number of integer fields.
             * @default 5
             */
            integers?: number;
            /**
             * @description Lower bound of integer fields, included.
             * @default 0
             */
            integer_min?: number;
            /**
             * @description Upper bound of integer fields, included.
             * @default 99
             */
            integer_max?: number;
            /**
             * @description Number of float fields.
             * @default 0
             */
            floats?: number;
            /**
             * @description Fractions lie between -size and size.
             * @default 0.05
             */
            float_size?: number;
            /**
             * @description Number of string fields.
             * @default 0
             */
            strings?: number;
        };
        /**
         * @description Taxi trips, reported when they end, with the columns of the DEBS 2015 challenge.
         *
         *     Distances are log-normal; a trip takes its distance divided by a log-normal speed; the fare is 2.50 + 2.50 per mile. Pickups are in
         *     zones of a grid; zone n has a probability proportional to n^-0.8. Invalid trips have no distance and no coordinates, as in the original
         *     data. The event time is `dropoff`; `pickup` is earlier, so it is negative at the start of the run.
         */
        TaxiTrip: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "taxi_trip";
            /**
             * @description Mean distance of valid trips.
             * @default 2.9
             */
            distance_mean_miles?: number;
            /**
             * @description Coefficient of variation (standard deviation divided by mean).
             * @default 1.17
             */
            distance_cv?: number;
            /**
             * @description Mean speed over all trips.
             * @default 12
             */
            speed_mean_mph?: number;
            /**
             * @description Coefficient of variation (standard deviation divided by mean).
             * @default 0.4
             */
            speed_cv?: number;
            /**
             * @description Number of taxis; each has its own driver's license.
             * @default 13000
             */
            medallions?: number;
            /**
             * @description Number of pickup zones, on a grid of 13 columns.
             * @default 260
             */
            zones?: number;
            /**
             * @description Exponent of the zones' Zipf distribution.
             * @default 0.8
             */
            zone_exponent?: number;
            /**
             * @description Share of trips without distance and coordinates.
             * @default 0.03
             */
            invalid_ratio?: number;
        };
        /** @description All keys occur equally often. */
        UniformSkew: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "uniform";
        };
        /**
         * @description Points for similarity joins: with a field for each coordinate (x1, x2, ..), or one field v for the whole vector.
         *
         *     Independent coordinates: uniform, from -1 to 1. gaussian: normal with mean -1 and standard deviation 2. pareto: at least 1, with shape
         *     10. skewed: logistic-normal between -1 and 1, with skew 10 and bias 5, so all vectors lie close to one.
         *
         *     clustered: unit vectors around drawn centres, as embeddings lie. bands: shares of the vectors have directions in narrow bands; the rest
         *     is uniform.
         */
        Vectors: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "vectors";
            /**
             * @description Number of coordinates of a point.
             * @default 2
             */
            dimensions?: number;
            /**
             * @description coordinates: a field for each, at most 50, which expressions can use; vector: one field, of which records carry a number, while its coordinates are kept once. Both have the same size on links.
             * @default coordinates
             * @enum {string}
             */
            fields?: "coordinates" | "vector";
            /**
             * @description Distribution of each coordinate, or of whole vectors: clustered and bands.
             * @default uniform
             * @enum {string}
             */
            law?: "uniform" | "gaussian" | "pareto" | "skewed" | "clustered" | "bands";
            /**
             * @description Of clustered: number of centres.
             * @default 20
             */
            clusters?: number;
            /**
             * @description Of clustered: standard deviation of each coordinate around a centre, whose length is 1.
             * @default 0.1
             */
            spread?: number;
            /**
             * @description Of clustered. own: of this source alone; common: of all sources with common centres, so their vectors match.
             * @default own
             * @enum {string}
             */
            centres?: "own" | "common";
            /**
             * @description Of bands: the bands.
             * @default []
             */
            bands?: components["schemas"]["Band"][];
            /**
             * @description Of bands: so many vectors at the start lie in the bands, in turn.
             * @default 0
             */
            first?: number;
        };
        /** @description A workset, by its space and its number there, and the worker that it goes to. */
        WorksetMove: {
            /** @description Number of the workset's space, from 0 on. */
            space: number;
            /** @description Number of the workset in its space, from 1 on. */
            number: number;
            /** @description Number of the worker that it goes to, from 0 on. */
            to: number;
        };
        /**
         * @description Ad events, 260 bytes each, about the size of the benchmark's JSON. The benchmark looks campaigns up in a table; here the ads of a
         *     campaign have consecutive numbers: campaign = ad // ads per campaign.
         *
         *     event_type is view, click or purchase; ad_type is banner, modal, sponsored-search, mail or mobile, all equally frequent. interest is a
         *     positive weight, gamma-distributed with mean 1, for sums of unequal values.
         */
        YahooEvent: {
            /**
             * @description Accounting size of a record on links and in buffers. 0: the stream's own size.
             * @default 0
             */
            record_bytes?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "yahoo_event";
            /**
             * @description Number of campaigns.
             * @default 100
             */
            campaigns?: number;
            /**
             * @description Number of ads in each campaign.
             * @default 10
             */
            ads_per_campaign?: number;
            /**
             * @description Number of users.
             * @default 100000
             */
            users?: number;
            /**
             * @description Number of pages.
             * @default 100000
             */
            pages?: number;
            /**
             * @description Coefficient of variation of the interest (standard deviation divided by mean).
             * @default 0.53
             */
            interest_cv?: number;
            /**
             * @description How often each ad occurs.
             * @default {
             *       "kind": "uniform"
             *     }
             */
            skew?: components["schemas"]["UniformSkew"] | components["schemas"]["HotSkew"] | components["schemas"]["ZipfSkew"] | components["schemas"]["NormalSkew"] | components["schemas"]["RoundedSkew"];
        };
        /** @description Key k has a probability proportional to (k + 1)^-exponent: few keys are frequent, most are rare. */
        ZipfSkew: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "zipf";
            /**
             * @description 0: uniform. Larger values are more skewed.
             * @default 1
             */
            exponent?: number;
        };
        StepFrames: {
            /** @default 1 */
            frames?: number;
        };
        Paced: {
            /** @description maximum virtual seconds per wall-clock second, 0.1 to 1,000; null: as fast as possible */
            pace: number | null;
        };
        SparkRunAsked: {
            /**
             * @description Files into which the input of each source is cut; each is a micro-batch.
             * @default 20
             */
            files?: number;
            /**
             * @description Input appears at the pace of the logs, and latencies are measured. It takes as long as the logs. Replaces files.
             * @default false
             */
            paced?: boolean;
            /**
             * @description Paced: least time between micro-batches. 0: one follows as soon as it can.
             * @default 0
             */
            trigger_ms?: number;
        };
        /** @description A span of virtual time. Default: from the end of the warm-up to the last frame that is stored. */
        DiagnosedSpan: {
            from_s?: number | null;
            to_s?: number | null;
        };
        /** @description The remedy to run, of the diagnosis of this span. */
        ChosenRemedy: {
            name: string;
            from_s?: number | null;
            to_s?: number | null;
        };
        /** @description run: run ids; the first is the baseline. metric: metric names, as in the run summaries. */
        ComparedQuery: {
            run: string[];
            /** @default [] */
            metric?: string[];
        };
        /** @description Two documents of experiments, valid or not. */
        TwoDocuments: {
            before: {
                [key: string]: unknown;
            };
            after: {
                [key: string]: unknown;
            };
        };
        NewStudy: {
            document: {
                [key: string]: unknown;
            };
            experiment?: string | null;
            predictions?: components["schemas"]["Predictions"] | null;
        };
        Question: {
            document: {
                [key: string]: unknown;
            };
        };
        /** @description metric: metric names, as in the run summaries. limit and offset count points; fewer are returned if points have many runs. */
        ResultsQuery: {
            /** @default [] */
            metric?: string[];
            /** @default 500 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        ScaleQuery: {
            scale?: ("smoke" | "dev" | "paper") | null;
        };
        Wanted: {
            /** @enum {string} */
            scale: "smoke" | "dev" | "paper";
        };
        NewCorpus: {
            name: string;
            /** @default 4000 */
            traces?: number;
            /** @default 1 */
            seed?: number;
        };
        /** @description corpus: its name. hidden: width of the network. members: models of each cost. batch: graphs of a step. */
        NewModels: {
            name: string;
            corpus: string;
            /** @default 32 */
            hidden?: number;
            /** @default 3 */
            members?: number;
            /** @default 80 */
            epochs?: number;
            /** @default 32 */
            batch?: number;
            /** @default true */
            logarithmic?: boolean;
        };
        /** @description Comparison of two sets of runs, with significance. */
        ComparisonQuestion: {
            /**
             * @default {
             *       "ids": null,
             *       "search": "",
             *       "state": "succeeded",
             *       "experiment": null,
             *       "study": null,
             *       "of_studies": true,
             *       "tag": ""
             *     }
             */
            runs?: components["schemas"]["RunsAsked"];
            /**
             * @default {
             *       "from_s": null,
             *       "to_s": null,
             *       "latency": "",
             *       "factor": 1.5,
             *       "before_s": 10,
             *       "steady_s": 1
             *     }
             */
            span?: components["schemas"]["Span"];
            /** @constant */
            kind: "comparison";
            against: components["schemas"]["RunsAsked"];
            /**
             * @default [
             *       "p50_ms",
             *       "p99_ms",
             *       "out_per_s"
             *     ]
             */
            metrics?: string[];
        };
        /** @description Selection of runs that ended in `state`: by ids, or by the search of the run list. */
        RunsAsked: {
            ids?: string[] | null;
            /** @default  */
            search?: string;
            /**
             * @default succeeded
             * @enum {string}
             */
            state?: "succeeded" | "failed" | "cancelled";
            experiment?: string | null;
            study?: string | null;
            /** @default true */
            of_studies?: boolean;
            /** @default  */
            tag?: string;
        };
        /** @description A span of virtual time of each run, and the settings for summarising it. */
        Span: {
            /** @description Start, in virtual time. Default: the end of the run's warm-up. */
            from_s?: number | null;
            /** @description End, in virtual time. Default: the end of the run. */
            to_s?: number | null;
            /**
             * @description Name of an additional latency. Default: the primary one.
             * @default
             */
            latency?: string;
            /**
             * @description Multiple of the p99 latency and driver queue before a fault that counts as recovered.
             * @default 1.5
             */
            factor?: number;
            /**
             * @description Length of the window before a fault that serves as the baseline.
             * @default 10
             */
            before_s?: number;
            /**
             * @description Time it must stay recovered.
             * @default 1
             */
            steady_s?: number;
        };
        /** @description Metrics of all runs, grouped by experiment or by a document parameter. */
        StatisticsQuestion: {
            /**
             * @default {
             *       "ids": null,
             *       "search": "",
             *       "state": "succeeded",
             *       "experiment": null,
             *       "study": null,
             *       "of_studies": true,
             *       "tag": ""
             *     }
             */
            runs?: components["schemas"]["RunsAsked"];
            /**
             * @default {
             *       "from_s": null,
             *       "to_s": null,
             *       "latency": "",
             *       "factor": 1.5,
             *       "before_s": 10,
             *       "steady_s": 1
             *     }
             */
            span?: components["schemas"]["Span"];
            /** @constant */
            kind: "statistics";
            /** @default experiment */
            by?: string;
            /**
             * @default [
             *       "p50_ms",
             *       "p99_ms",
             *       "out_per_s"
             *     ]
             */
            metrics?: string[];
        };
        /** @description Summary of each run over the span, and of all runs together. */
        SummariesQuestion: {
            /**
             * @default {
             *       "ids": null,
             *       "search": "",
             *       "state": "succeeded",
             *       "experiment": null,
             *       "study": null,
             *       "of_studies": true,
             *       "tag": ""
             *     }
             */
            runs?: components["schemas"]["RunsAsked"];
            /**
             * @default {
             *       "from_s": null,
             *       "to_s": null,
             *       "latency": "",
             *       "factor": 1.5,
             *       "before_s": 10,
             *       "steady_s": 1
             *     }
             */
            span?: components["schemas"]["Span"];
            /** @constant */
            kind: "summaries";
        };
        /** @description Mean of a metric over two parameters of the runs' documents. */
        SurfaceQuestion: {
            /**
             * @default {
             *       "ids": null,
             *       "search": "",
             *       "state": "succeeded",
             *       "experiment": null,
             *       "study": null,
             *       "of_studies": true,
             *       "tag": ""
             *     }
             */
            runs?: components["schemas"]["RunsAsked"];
            /**
             * @default {
             *       "from_s": null,
             *       "to_s": null,
             *       "latency": "",
             *       "factor": 1.5,
             *       "before_s": 10,
             *       "steady_s": 1
             *     }
             */
            span?: components["schemas"]["Span"];
            /** @constant */
            kind: "surface";
            x: string;
            y: string;
            /** @default p99_ms */
            metric?: string;
        };
        /** @description The runs of a question, and of a comparison also those they are compared with. */
        SelectionAsked: {
            /**
             * @default {
             *       "ids": null,
             *       "search": "",
             *       "state": "succeeded",
             *       "experiment": null,
             *       "study": null,
             *       "of_studies": true,
             *       "tag": ""
             *     }
             */
            runs?: components["schemas"]["RunsAsked"];
            /**
             * @default {
             *       "from_s": null,
             *       "to_s": null,
             *       "latency": "",
             *       "factor": 1.5,
             *       "before_s": 10,
             *       "steady_s": 1
             *     }
             */
            span?: components["schemas"]["Span"];
            against?: components["schemas"]["RunsAsked"] | null;
        };
        AnswerQuery: {
            /** @default 1000 */
            limit?: number;
            /** @default 0 */
            offset?: number;
        };
        /** @description though_busy: measure also while other processes are at work; the prices are too high then. */
        CalibrationAsked: {
            /** @default false */
            though_busy?: boolean;
        };
        NewView: {
            name: string;
            query?: components["schemas"]["Asked"];
        };
        Change: {
            name?: string | null;
            query?: components["schemas"]["Asked"] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Health = components['schemas']['Health'];
export type Alive = components['schemas']['Alive'];
export type LabOfMine = components['schemas']['LabOfMine'];
export type Me = components['schemas']['Me'];
export type Ways = components['schemas']['Ways'];
export type Address = components['schemas']['Address'];
export type Factor = components['schemas']['Factor'];
export type RecoveryCodes = components['schemas']['RecoveryCodes'];
export type NewFactor = components['schemas']['NewFactor'];
export type Welcome = components['schemas']['Welcome'];
export type Joined = components['schemas']['Joined'];
export type Person = components['schemas']['Person'];
export type Link = components['schemas']['Link'];
export type InvitationShape = components['schemas']['InvitationShape'];
export type Invited = components['schemas']['Invited'];
export type Large = components['schemas']['Large'];
export type RemovalShape = components['schemas']['RemovalShape'];
export type RuleShape = components['schemas']['RuleShape'];
export type StorageShape = components['schemas']['StorageShape'];
export type DueShape = components['schemas']['DueShape'];
export type RulePreview = components['schemas']['RulePreview'];
export type Undone = components['schemas']['Undone'];
export type LimitsAndUsage = components['schemas']['LimitsAndUsage'];
export type LimitsShape = components['schemas']['LimitsShape'];
export type UsageShape = components['schemas']['UsageShape'];
export type Entries = components['schemas']['Entries'];
export type Entry = components['schemas']['Entry'];
export type TokenShape = components['schemas']['TokenShape'];
export type Issued = components['schemas']['Issued'];
export type Catalogue = components['schemas']['Catalogue'];
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Kind = components['schemas']['Kind'];
export type Parameter = components['schemas']['Parameter'];
export type RecordField = components['schemas']['RecordField'];
export type Signature = components['schemas']['Signature'];
export type Problem = components['schemas']['Problem'];
export type RecordSchema = components['schemas']['RecordSchema'];
export type Validation = components['schemas']['Validation'];
export type Preview = components['schemas']['Preview'];
export type Threshold = components['schemas']['Threshold'];
export type PythonCodeShape = components['schemas']['PythonCodeShape'];
export type DocumentShape = components['schemas']['DocumentShape'];
export type AdviceState = components['schemas']['AdviceState'];
export type ModelsShape = components['schemas']['ModelsShape'];
export type AdviceShape = components['schemas']['AdviceShape'];
export type CandidateShape = components['schemas']['CandidateShape'];
export type OtherFeatureShape = components['schemas']['OtherFeatureShape'];
export type OtherHostShape = components['schemas']['OtherHostShape'];
export type OutsideShape = components['schemas']['OutsideShape'];
export type Votes = components['schemas']['Votes'];
export type ExperimentItem = components['schemas']['ExperimentItem'];
export type ExperimentShape = components['schemas']['ExperimentShape'];
export type SavedShape = components['schemas']['SavedShape'];
export type ExperimentName = components['schemas']['ExperimentName'];
export type MeasuredSide = components['schemas']['MeasuredSide'];
export type RunDetail = components['schemas']['RunDetail'];
export type RunState = components['schemas']['RunState'];
export type Verdict = components['schemas']['Verdict'];
export type VersionItem = components['schemas']['VersionItem'];
export type VersionPage = components['schemas']['VersionPage'];
export type VersionDetail = components['schemas']['VersionDetail'];
export type FieldShape = components['schemas']['FieldShape'];
export type GroupPage = components['schemas']['GroupPage'];
export type GroupShape = components['schemas']['GroupShape'];
export type MeanOfSeeds = components['schemas']['MeanOfSeeds'];
export type MeasuredShape = components['schemas']['MeasuredShape'];
export type PointsShape = components['schemas']['PointsShape'];
export type RunPage = components['schemas']['RunPage'];
export type RunShape = components['schemas']['RunShape'];
export type Fields = components['schemas']['Fields'];
export type Changed = components['schemas']['Changed'];
export type Noted = components['schemas']['Noted'];
export type ActorSample = components['schemas']['ActorSample'];
export type Aligning = components['schemas']['Aligning'];
export type AligningOperator = components['schemas']['AligningOperator'];
export type Attribution = components['schemas']['Attribution'];
export type BalancingAction = components['schemas']['BalancingAction'];
export type BalancingNews = components['schemas']['BalancingNews'];
export type Busiest = components['schemas']['Busiest'];
export type CapturedCheckpoint = components['schemas']['CapturedCheckpoint'];
export type CheckpointNews = components['schemas']['CheckpointNews'];
export type CheckpointRound = components['schemas']['CheckpointRound'];
export type CleanerSample = components['schemas']['CleanerSample'];
export type CopySample = components['schemas']['CopySample'];
export type Death = components['schemas']['Death'];
export type DurableCheckpoint = components['schemas']['DurableCheckpoint'];
export type EngineNews = components['schemas']['EngineNews'];
export type Frame = components['schemas']['Frame'];
export type FramePage = components['schemas']['FramePage'];
export type HostMemory = components['schemas']['HostMemory'];
export type HostSample = components['schemas']['HostSample'];
export type JobNews = components['schemas']['JobNews'];
export type Latency = components['schemas']['Latency'];
export type LineSearch = components['schemas']['LineSearch'];
export type LinkSample = components['schemas']['LinkSample'];
export type Most = components['schemas']['Most'];
export type NumberedCheckpoint = components['schemas']['NumberedCheckpoint'];
export type OperatorSample = components['schemas']['OperatorSample'];
export type Outage = components['schemas']['Outage'];
export type OutputLogLimits = components['schemas']['OutputLogLimits'];
export type OutputLogNews = components['schemas']['OutputLogNews'];
export type OutputLogSample = components['schemas']['OutputLogSample'];
export type QuerySample = components['schemas']['QuerySample'];
export type Recovery = components['schemas']['Recovery'];
export type RegionTurn = components['schemas']['RegionTurn'];
export type RescaleAction = components['schemas']['RescaleAction'];
export type Restore = components['schemas']['Restore'];
export type ScalingDecision = components['schemas']['ScalingDecision'];
export type ScalingNews = components['schemas']['ScalingNews'];
export type ScalingReading = components['schemas']['ScalingReading'];
export type ScalingStep = components['schemas']['ScalingStep'];
export type ScheduledHost = components['schemas']['ScheduledHost'];
export type ScheduledInput = components['schemas']['ScheduledInput'];
export type ScheduledQuery = components['schemas']['ScheduledQuery'];
export type SchedulingNews = components['schemas']['SchedulingNews'];
export type SpacesNews = components['schemas']['SpacesNews'];
export type StandbyNews = components['schemas']['StandbyNews'];
export type StandbyPair = components['schemas']['StandbyPair'];
export type StandbySample = components['schemas']['StandbySample'];
export type StateNews = components['schemas']['StateNews'];
export type StoreLimits = components['schemas']['StoreLimits'];
export type StoreSample = components['schemas']['StoreSample'];
export type StoreSettings = components['schemas']['StoreSettings'];
export type StoredRecord = components['schemas']['StoredRecord'];
export type Takeover = components['schemas']['Takeover'];
export type TrunkSample = components['schemas']['TrunkSample'];
export type WorksetHandOver = components['schemas']['WorksetHandOver'];
export type Bar = components['schemas']['Bar'];
export type CheckpointMark = components['schemas']['CheckpointMark'];
export type Diagram = components['schemas']['Diagram'];
export type Explained = components['schemas']['Explained'];
export type LessonStep = components['schemas']['LessonStep'];
export type MessageArrow = components['schemas']['MessageArrow'];
export type Table = components['schemas']['Table'];
export type Wait = components['schemas']['Wait'];
export type AttributionAnswer = components['schemas']['AttributionAnswer'];
export type DeliveredRecord = components['schemas']['DeliveredRecord'];
export type Sample = components['schemas']['Sample'];
export type Selection = components['schemas']['Selection'];
export type Stretch = components['schemas']['Stretch'];
export type WaterfallsShape = components['schemas']['WaterfallsShape'];
export type Waterfall = components['schemas']['Waterfall'];
export type WaterfallPart = components['schemas']['WaterfallPart'];
export type WaterfallsAnswer = components['schemas']['WaterfallsAnswer'];
export type SparkRunShape = components['schemas']['SparkRunShape'];
export type LatencyPoint = components['schemas']['LatencyPoint'];
export type MicroBatch = components['schemas']['MicroBatch'];
export type ResultLatency = components['schemas']['ResultLatency'];
export type SparkComparison = components['schemas']['SparkComparison'];
export type SparkDifference = components['schemas']['SparkDifference'];
export type SparkPrediction = components['schemas']['SparkPrediction'];
export type SparkRunDetail = components['schemas']['SparkRunDetail'];
export type SparkSpeed = components['schemas']['SparkSpeed'];
export type DiagnosisShape = components['schemas']['DiagnosisShape'];
export type EffectShape = components['schemas']['EffectShape'];
export type EvidenceShape = components['schemas']['EvidenceShape'];
export type LimitKind = components['schemas']['LimitKind'];
export type RemedyRun = components['schemas']['RemedyRun'];
export type RemedyShape = components['schemas']['RemedyShape'];
export type InstanceRow = components['schemas']['InstanceRow'];
export type InstancesShape = components['schemas']['InstancesShape'];
export type KeyShape = components['schemas']['KeyShape'];
export type KeysShape = components['schemas']['KeysShape'];
export type Exactness = components['schemas']['Exactness'];
export type BaselineShape = components['schemas']['BaselineShape'];
export type ComparisonShape = components['schemas']['ComparisonShape'];
export type Difference = components['schemas']['Difference'];
export type DocumentDifference = components['schemas']['DocumentDifference'];
export type Gone = components['schemas']['Gone'];
export type MeanOverSeeds = components['schemas']['MeanOverSeeds'];
export type RunOfSide = components['schemas']['RunOfSide'];
export type SideShape = components['schemas']['SideShape'];
export type StudyPage = components['schemas']['StudyPage'];
export type StudyShape = components['schemas']['StudyShape'];
export type Predictions = components['schemas']['Predictions'];
export type StudyDetail = components['schemas']['StudyDetail'];
export type StudyCatalogue = components['schemas']['StudyCatalogue'];
export type Checked = components['schemas']['Checked'];
export type AssertionCount = components['schemas']['AssertionCount'];
export type Found = components['schemas']['Found'];
export type Interval = components['schemas']['Interval'];
export type Point = components['schemas']['Point'];
export type Results = components['schemas']['Results'];
export type RunOf = components['schemas']['RunOf'];
export type Tried = components['schemas']['Tried'];
export type Optimisation = components['schemas']['Optimisation'];
export type TriedPoint = components['schemas']['TriedPoint'];
export type AssertionCounts = components['schemas']['AssertionCounts'];
export type FigureItem = components['schemas']['FigureItem'];
export type FigureSource = components['schemas']['FigureSource'];
export type ReproductionShape = components['schemas']['ReproductionShape'];
export type ShippedShape = components['schemas']['ShippedShape'];
export type FigureAssertion = components['schemas']['FigureAssertion'];
export type FigureDetail = components['schemas']['FigureDetail'];
export type FigureResultShape = components['schemas']['FigureResultShape'];
export type FigureSide = components['schemas']['FigureSide'];
export type FigureValue = components['schemas']['FigureValue'];
export type NoValue = components['schemas']['NoValue'];
export type NumberValue = components['schemas']['NumberValue'];
export type RunBehind = components['schemas']['RunBehind'];
export type SeriesValue = components['schemas']['SeriesValue'];
export type UnmetShape = components['schemas']['UnmetShape'];
export type AtScale = components['schemas']['AtScale'];
export type CorpusShape = components['schemas']['CorpusShape'];
export type LabelSpread = components['schemas']['LabelSpread'];
export type Learning = components['schemas']['Learning'];
export type LearningJobShape = components['schemas']['LearningJobShape'];
export type ModelRow = components['schemas']['ModelRow'];
export type EpochShape = components['schemas']['EpochShape'];
export type MemberShape = components['schemas']['MemberShape'];
export type ModelDetail = components['schemas']['ModelDetail'];
export type WorthShape = components['schemas']['WorthShape'];
export type Imported = components['schemas']['Imported'];
export type LessonItem = components['schemas']['LessonItem'];
export type LessonTold = components['schemas']['LessonTold'];
export type AnalysisPage = components['schemas']['AnalysisPage'];
export type SparkJobShape = components['schemas']['SparkJobShape'];
export type SparkState = components['schemas']['SparkState'];
export type FilesToRead = components['schemas']['FilesToRead'];
export type SelectedExperiment = components['schemas']['SelectedExperiment'];
export type SelectedRuns = components['schemas']['SelectedRuns'];
export type SelectionOfRuns = components['schemas']['SelectionOfRuns'];
export type AnalysisDetail = components['schemas']['AnalysisDetail'];
export type CalibrationJobShape = components['schemas']['CalibrationJobShape'];
export type CalibrationState = components['schemas']['CalibrationState'];
export type MachineShape = components['schemas']['MachineShape'];
export type MeasuredQuery = components['schemas']['MeasuredQuery'];
export type PriceOfKind = components['schemas']['PriceOfKind'];
export type TagItem = components['schemas']['TagItem'];
export type Asked = components['schemas']['Asked'];
export type ViewShape = components['schemas']['ViewShape'];
export type Template = components['schemas']['Template'];
export type DatasetColumn = components['schemas']['DatasetColumn'];
export type DatasetShape = components['schemas']['DatasetShape'];
export type ReadColumnShape = components['schemas']['ReadColumnShape'];
export type ReadingProblem = components['schemas']['ReadingProblem'];
export type ReadingReason = components['schemas']['ReadingReason'];
export type ReadingShape = components['schemas']['ReadingShape'];
export type UploadPreview = components['schemas']['UploadPreview'];
export type DatasetDetail = components['schemas']['DatasetDetail'];
export type ReadCounts = components['schemas']['ReadCounts'];
export type Refusal = components['schemas']['Refusal'];
export type EndMessage = components['schemas']['EndMessage'];
export type FramesMessage = components['schemas']['FramesMessage'];
export type PongMessage = components['schemas']['PongMessage'];
export type StateMessage = components['schemas']['StateMessage'];
export type RunMessage = components['schemas']['RunMessage'];
export type AnalysesMessage = components['schemas']['AnalysesMessage'];
export type CalibrationsMessage = components['schemas']['CalibrationsMessage'];
export type ExperimentNews = components['schemas']['ExperimentNews'];
export type ExperimentsMessage = components['schemas']['ExperimentsMessage'];
export type LearningJobsMessage = components['schemas']['LearningJobsMessage'];
export type ListsMessage = components['schemas']['ListsMessage'];
export type OpenPage = components['schemas']['OpenPage'];
export type PresenceShape = components['schemas']['PresenceShape'];
export type PresencesMessage = components['schemas']['PresencesMessage'];
export type QuestionsMessage = components['schemas']['QuestionsMessage'];
export type ReadyMessage = components['schemas']['ReadyMessage'];
export type ReproductionsMessage = components['schemas']['ReproductionsMessage'];
export type RunsMessage = components['schemas']['RunsMessage'];
export type SparkRunsMessage = components['schemas']['SparkRunsMessage'];
export type StudiesMessage = components['schemas']['StudiesMessage'];
export type NewsMessage = components['schemas']['NewsMessage'];
export type Credentials = components['schemas']['Credentials'];
export type SignOn = components['schemas']['SignOn'];
export type Code = components['schemas']['Code'];
export type NewPassword = components['schemas']['NewPassword'];
export type ChosenLab = components['schemas']['ChosenLab'];
export type InvitationText = components['schemas']['InvitationText'];
export type NewAccount = components['schemas']['NewAccount'];
export type NewRole = components['schemas']['NewRole'];
export type NewInvitation = components['schemas']['NewInvitation'];
export type Limit = components['schemas']['Limit'];
export type NewRule = components['schemas']['NewRule'];
export type ChangedRule = components['schemas']['ChangedRule'];
export type NewLimits = components['schemas']['NewLimits'];
export type LogQuery = components['schemas']['LogQuery'];
export type NewToken = components['schemas']['NewToken'];
export type Validate = components['schemas']['Validate'];
export type Previewed = components['schemas']['Previewed'];
export type Selectivity = components['schemas']['Selectivity'];
export type PythonCode = components['schemas']['PythonCode'];
export type AdviceQuestion = components['schemas']['AdviceQuestion'];
export type NewExperiment = components['schemas']['NewExperiment'];
export type Edit = components['schemas']['Edit'];
export type Start = components['schemas']['Start'];
export type Limits = components['schemas']['Limits'];
export type Back = components['schemas']['Back'];
export type GroupQuery = components['schemas']['GroupQuery'];
export type PointQuery = components['schemas']['PointQuery'];
export type ListQuery = components['schemas']['ListQuery'];
export type FieldQuery = components['schemas']['FieldQuery'];
export type Together = components['schemas']['Together'];
export type Notes = components['schemas']['Notes'];
export type Again = components['schemas']['Again'];
export type AdClick = components['schemas']['AdClick'];
export type AdImpression = components['schemas']['AdImpression'];
export type AdShown = components['schemas']['AdShown'];
export type Adjustment = components['schemas']['Adjustment'];
export type At = components['schemas']['At'];
export type AtRandom = components['schemas']['AtRandom'];
export type BalancingOrder = components['schemas']['BalancingOrder'];
export type Band = components['schemas']['Band'];
export type ConstantRate = components['schemas']['ConstantRate'];
export type CosineRate = components['schemas']['CosineRate'];
export type DecreasingRate = components['schemas']['DecreasingRate'];
export type Delay = components['schemas']['Delay'];
export type DiskLoss = components['schemas']['DiskLoss'];
export type FairThreads = components['schemas']['FairThreads'];
export type FileStream = components['schemas']['FileStream'];
export type FirstComeFirstServed = components['schemas']['FirstComeFirstServed'];
export type Forked = components['schemas']['Forked'];
export type GraphDeletion = components['schemas']['GraphDeletion'];
export type GraphLink = components['schemas']['GraphLink'];
export type GraphSource = components['schemas']['GraphSource'];
export type HighestRate = components['schemas']['HighestRate'];
export type HostLoss = components['schemas']['HostLoss'];
export type HotSkew = components['schemas']['HotSkew'];
export type InCommit = components['schemas']['InCommit'];
export type IncreasingRate = components['schemas']['IncreasingRate'];
export type Klink = components['schemas']['Klink'];
export type LinearRoadReport = components['schemas']['LinearRoadReport'];
export type Move = components['schemas']['Move'];
export type NexmarkAuction = components['schemas']['NexmarkAuction'];
export type NexmarkBid = components['schemas']['NexmarkBid'];
export type NexmarkPerson = components['schemas']['NexmarkPerson'];
export type NoScheduling = components['schemas']['NoScheduling'];
export type NormalSkew = components['schemas']['NormalSkew'];
export type Order = components['schemas']['Order'];
export type Partition = components['schemas']['Partition'];
export type Pause = components['schemas']['Pause'];
export type ProcessCrash = components['schemas']['ProcessCrash'];
export type Purchase = components['schemas']['Purchase'];
export type RampRate = components['schemas']['RampRate'];
export type RandomWalkRate = components['schemas']['RandomWalkRate'];
export type RoundRobin = components['schemas']['RoundRobin'];
export type RoundedSkew = components['schemas']['RoundedSkew'];
export type SensorReading = components['schemas']['SensorReading'];
export type ShortestFirst = components['schemas']['ShortestFirst'];
export type SlowHost = components['schemas']['SlowHost'];
export type SmartPlugReading = components['schemas']['SmartPlugReading'];
export type SpikesRate = components['schemas']['SpikesRate'];
export type Step = components['schemas']['Step'];
export type StepsRate = components['schemas']['StepsRate'];
export type StreamBox = components['schemas']['StreamBox'];
export type SwitchedRate = components['schemas']['SwitchedRate'];
export type SwitchedScheduling = components['schemas']['SwitchedScheduling'];
export type SwitchedStream = components['schemas']['SwitchedStream'];
export type Synthetic = components['schemas']['Synthetic'];
export type TaxiTrip = components['schemas']['TaxiTrip'];
export type UniformSkew = components['schemas']['UniformSkew'];
export type Vectors = components['schemas']['Vectors'];
export type WorksetMove = components['schemas']['WorksetMove'];
export type YahooEvent = components['schemas']['YahooEvent'];
export type ZipfSkew = components['schemas']['ZipfSkew'];
export type StepFrames = components['schemas']['StepFrames'];
export type Paced = components['schemas']['Paced'];
export type SparkRunAsked = components['schemas']['SparkRunAsked'];
export type DiagnosedSpan = components['schemas']['DiagnosedSpan'];
export type ChosenRemedy = components['schemas']['ChosenRemedy'];
export type ComparedQuery = components['schemas']['ComparedQuery'];
export type TwoDocuments = components['schemas']['TwoDocuments'];
export type NewStudy = components['schemas']['NewStudy'];
export type Question = components['schemas']['Question'];
export type ResultsQuery = components['schemas']['ResultsQuery'];
export type ScaleQuery = components['schemas']['ScaleQuery'];
export type Wanted = components['schemas']['Wanted'];
export type NewCorpus = components['schemas']['NewCorpus'];
export type NewModels = components['schemas']['NewModels'];
export type ComparisonQuestion = components['schemas']['ComparisonQuestion'];
export type RunsAsked = components['schemas']['RunsAsked'];
export type Span = components['schemas']['Span'];
export type StatisticsQuestion = components['schemas']['StatisticsQuestion'];
export type SummariesQuestion = components['schemas']['SummariesQuestion'];
export type SurfaceQuestion = components['schemas']['SurfaceQuestion'];
export type SelectionAsked = components['schemas']['SelectionAsked'];
export type AnswerQuery = components['schemas']['AnswerQuery'];
export type CalibrationAsked = components['schemas']['CalibrationAsked'];
export type NewView = components['schemas']['NewView'];
export type Change = components['schemas']['Change'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
